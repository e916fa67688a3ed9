#pragma once

#include <map>
#include <memory>
#include <mutex>

namespace ration::compare {

// Values that several threads share: the first to ask makes one, others wait for it. A value is kept as long
// as somebody holds it (Holder = std::weak_ptr) or for good (std::shared_ptr). If making throws, the next to
// ask tries again.
template <class Key, class Value, template <class> class Holder>
class MakeOnce {
 public:
  template <class Make>
  std::shared_ptr<const Value> get(const Key& key, const Make& make) {
    Entry& entry = entry_of(key);
    const std::lock_guard guard(entry.making);
    std::shared_ptr<const Value> value = held(entry.value);
    if (!value) {
      value = std::make_shared<const Value>(make());
      entry.value = value;
    }
    return value;
  }

 private:
  struct Entry {
    std::mutex making;
    Holder<const Value> value;
  };

  static std::shared_ptr<const Value> held(const std::weak_ptr<const Value>& value) { return value.lock(); }
  static std::shared_ptr<const Value> held(const std::shared_ptr<const Value>& value) { return value; }

  Entry& entry_of(const Key& key) {
    const std::lock_guard guard(all_);
    return entries_[key];
  }

  std::mutex all_;
  std::map<Key, Entry> entries_;  // whose entries stay where they are
};

}  // namespace ration::compare
