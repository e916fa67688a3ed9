#pragma once

// CLI11's header takes seconds to read. Headers that only name its types declare them here, and sources that
// call them include it, so that texts and pictures are built without it.
namespace CLI {
class App;
class Option;
}  // namespace CLI
