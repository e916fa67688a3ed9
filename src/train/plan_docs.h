#pragma once

#include <string>

namespace ration {

// Every key of a plan, its default and what it may be, as tables in Markdown: the middle of docs/plan.md.
std::string plan_keys_as_markdown();

}  // namespace ration
