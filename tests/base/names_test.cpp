#include "ration/base/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ration/base/error.h"

namespace ration {
namespace {

using ::testing::ThrowsMessage;

enum class Colour { red, green, blue };
constexpr NamedValue<Colour> kColours[] = {{Colour::red, "red", "Like blood."},
                                           {Colour::green, "green", "Like grass."},
                                           {Colour::blue, "blue", "Sky."}};
constexpr NameTable<Colour> name_table(Colour) {
  return {"colour", kColours};
}

enum class Incomplete { one, two };
constexpr NamedValue<Incomplete> kIncomplete[] = {{Incomplete::one, "one", "1"}};
constexpr NameTable<Incomplete> name_table(Incomplete) {
  return {"number", kIncomplete};
}

enum class Swapped { one, two };
constexpr NamedValue<Swapped> kSwapped[] = {{Swapped::two, "two", "2"}, {Swapped::one, "one", "1"}};
constexpr NameTable<Swapped> name_table(Swapped) {
  return {"number", kSwapped};
}

TEST(Names, ATableHasALineForEveryEnumeratorInOrder) {
  EXPECT_TRUE(detail::is_complete<Colour>());
  EXPECT_FALSE(detail::is_complete<Incomplete>());
  EXPECT_FALSE(detail::is_complete<Swapped>());
}

TEST(Names, GoBothWays) {
  for (const Colour colour : every<Colour>()) EXPECT_EQ(named<Colour>(to_string(colour)), colour);
  EXPECT_EQ(every<Colour>().size(), 3u);
}

TEST(Names, AnUnknownOneIsRefusedWithTheListAndTheClosest) {
  EXPECT_THAT([] { named<Colour>("--colour", "grene"); },
              ThrowsMessage<InputError>(
                  "--colour: expected one of red, green, blue, got 'grene'; did you mean 'green'?"));
  EXPECT_THAT([] { named<Colour>("black"); },
              ThrowsMessage<InputError>("colour: expected one of red, green, blue, got 'black'"));
  EXPECT_THAT([] { named<Colour>(""); },
              ThrowsMessage<InputError>("colour: expected one of red, green, blue, got ''"));
}

TEST(Names, AValueCanBeGivenAsText) {
  Named<Colour> colour = Colour::red;
  colour = "blue";
  EXPECT_EQ(colour, Colour::blue);
  EXPECT_EQ(colour, "blue");
  EXPECT_NE(colour, "red");
  EXPECT_EQ(colour.name(), "blue");
  colour = std::string("green");
  EXPECT_EQ(colour, Colour::green);
  EXPECT_THROW(colour = "grey", InputError);
  EXPECT_EQ(colour, Colour::green);
}

TEST(Names, AValueMayBeLeftOpen) {
  NamedOrAuto<Colour> colour;
  EXPECT_TRUE(colour.is_auto());
  EXPECT_EQ(colour, "auto");
  EXPECT_NE(colour, Colour::red);
  colour.choose_if_auto(Colour::green);
  colour.choose_if_auto(Colour::blue);
  EXPECT_EQ(colour, Colour::green);
  EXPECT_EQ(colour.name(), "green");
  colour = "auto";
  EXPECT_TRUE(colour.is_auto());
  EXPECT_THAT([] { NamedOrAuto<Colour>("rod"); },
              ThrowsMessage<InputError>(
                  "colour: expected one of auto, red, green, blue, got 'rod'; did you mean 'red'?"));
}

}  // namespace
}  // namespace ration
