#include "runtime/number_watch.hpp"

#include <rlx/ir/located.hpp>

#include <algorithm>
#include <utility>

namespace rlx::runtime {

static NonFiniteError non_finite(const StepInfo& s, TensorType t, const Worst& w, const std::string& program) {
  t.space = Space::value;
  const std::string node = s.op.empty() ? s.name : s.op + (s.node.empty() ? "" : " " + s.node);
  return NonFiniteError(s.op.empty() ? s.name : s.op,
                        node + ": step " + s.name + " stores " + (w.numbers == Numbers::nan ? "NaN" : "an infinity") +
                            " at element " + std::to_string(w.index) + " of " + to_string(Type(t)) + " in program \"" +
                            program + "\"" + (s.location.file.empty() ? "" : "  " + s.location.to_string()),
                        {s.location.file, s.location.line, s.node});
}

NumberWatch::NumberWatch(const Steps& steps, std::string program, Contents contents)
    : steps_(steps),
      program_(std::move(program)),
      contents_(std::move(contents)),
      numbers_(steps.places.size(), Numbers::finite) {
  for (std::size_t p = 0; p < numbers_.size(); ++p)
    if (const auto kind = steps_.places[p].kind; kind == Place::Kind::input || kind == Place::Kind::constant)
      held(static_cast<int>(p)) = worst_of(contents_(static_cast<int>(p))).numbers;
}

void NumberWatch::check_stored(const Step& s) {
  Numbers given = s.info->has_infinity ? Numbers::infinite : Numbers::finite;
  for (int p : s.reads) given = std::max(given, held(p));
  for (int p : s.writes) {
    const Worst w = worst_of(contents_(p));
    if (w.numbers > given) throw non_finite(*s.info, steps_.places[static_cast<std::size_t>(p)].type, w, program_);
    held(p) = w.numbers;
  }
}

Numbers& NumberWatch::held(int place) {
  return numbers_[static_cast<std::size_t>(steps_.places[static_cast<std::size_t>(place)].memory)];
}

}  // namespace rlx::runtime
