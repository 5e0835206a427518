#include "compile/emit_source/geometry.hpp"

#include "compile/emit_source/expand.hpp"
#include "compile/emit_source/literal.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>

namespace rlx::emit_source {
namespace {

using Sizes = std::vector<std::int64_t>;

std::int64_t product(const Sizes& sizes) {
  std::int64_t all = 1;
  for (std::int64_t s : sizes) {
    if (__builtin_mul_overflow(all, s, &all)) throw MemoryError("index space of a kernel", UINT64_MAX, INT64_MAX);
  }
  return all;
}

class Writer {
 public:
  Writer(const Dialect& dialect, IndexSpace& to) : dialect_(dialect), to_(to) {
    const Element* index = find_element(dialect, DType::i64);
    if (!index) throw VerifyError("lir.kernel", "dialect", std::string(dialect.name) + " has no 64-bit index type");
    type_ = index->value;
    suffix_ = index->suffix;
  }
  void define(const std::string& name, std::string_view expression) {
    to_.prologue.push_back(expand(dialect_.define, {{'T', type_}, {'v', name}, {'0', expression}}));
  }
  void guard(const std::string& name, std::int64_t limit) {
    to_.prologue.push_back(expand(dialect_.guard, {{'0', name}, {'1', number(limit)}}));
  }
  void guard_handed_over(const std::string& name, std::int64_t limit) {
    if (dialect_.group_threads == 1) return;  // No group is wider than the points that are left.
    to_.prologue.push_back(expand(dialect_.guard, {{'0', name}, {'1', limit_name}}));
    to_.limit = limit;
  }
  std::string cast(std::string_view builtin) const { return "(" + std::string(type_) + ")" + std::string(builtin); }
  std::string number(std::int64_t v) const { return std::to_string(v) + std::string(suffix_); }

  /// Indices of `sizes`, outermost first, from one index that counts their product.
  void split(const std::string& flat, const Sizes& sizes, const std::vector<std::string>& names) {
    std::int64_t inner = 1;
    for (std::size_t d = sizes.size(); d-- > 0;) {
      const std::string quotient = inner == 1 ? flat : flat + " / " + number(inner);
      define(names[d], d == 0 ? quotient
                              : (inner == 1 ? quotient : "(" + quotient + ")") + " % " +
                                    number(std::max<std::int64_t>(sizes[d], 1)));
      inner *= std::max<std::int64_t>(sizes[d], 1);
    }
  }

  /// Indices of `sizes` from three builtins: the two fastest dimensions have their own, the others share the third.
  Sizes from_builtins(const Sizes& sizes, const std::vector<std::string>& names,
                      const std::array<std::string_view, 3>& builtins, const std::string& shared) {
    Sizes hardware{1, 1, 1};
    const std::size_t rank = sizes.size();
    for (std::size_t h = 0; h < std::min<std::size_t>(rank, rank <= 3 ? 3 : 2); ++h) {
      const std::size_t d = rank - 1 - h;
      define(names[d], cast(builtins[h]));
      hardware[h] = sizes[d];
    }
    if (rank > 3) {
      const Sizes outer(sizes.begin(), sizes.end() - 2);
      define(shared, cast(builtins[2]));
      split(shared, outer, {names.begin(), names.end() - 2});
      hardware[2] = product(outer);
    }
    return hardware;
  }

 private:
  const Dialect& dialect_;
  IndexSpace& to_;
  std::string_view type_, suffix_;
};

std::vector<std::string> numbered(const char* stem, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(stem + std::to_string(i));
  return names;
}

void team_space(const lir::KernelAttrs& kernel, const Dialect& dialect, IndexSpace& space) {
  Writer w(dialect, space);
  const auto teams = numbered("g", kernel.extents.size()), threads = numbered("t", kernel.team.size());
  const Sizes groups = w.from_builtins(kernel.extents, teams, dialect.group_index, "gs");
  const Sizes size = w.from_builtins(kernel.team, threads, dialect.thread_index, "ts");
  std::copy(groups.begin(), groups.end(), space.geometry.groups.begin());
  std::copy(size.begin(), size.end(), space.geometry.threads.begin());
  space.names = teams;
  space.names.insert(space.names.end(), threads.begin(), threads.end());
}

void point_space(const lir::KernelAttrs& kernel, const Dialect& dialect, IndexSpace& space) {
  Writer w(dialect, space);
  space.names = numbered("i", kernel.extents.size());
  space.geometry.threads = {dialect.group_threads, 1, 1};
  const std::int64_t points = product(kernel.extents);
  const auto groups_of = [&](std::int64_t n) { return n / dialect.group_threads + (n % dialect.group_threads != 0); };
  if (kernel.extents.empty()) {
    space.geometry.threads = {1, 1, 1};
    return;
  }
  // A long last dimension gets a builtin index of its own, which compilers know to be contiguous; a short one would
  // leave most threads of a group without work, so all dimensions are counted by one index (divisors are constants:
  // cheap).
  const std::int64_t last = kernel.extents.back();
  if (kernel.extents.size() == 1 || last >= dialect.group_threads / 2) {
    const Sizes hardware = w.from_builtins(kernel.extents, space.names, dialect.global_index, "is");
    if (kernel.extents.size() == 1) w.guard_handed_over(space.names[0], last);
    else if (last % dialect.group_threads != 0) w.guard(space.names.back(), last);
    space.geometry.groups = {groups_of(hardware[0]), hardware[1], hardware[2]};
    return;
  }
  w.define("is", w.cast(dialect.global_index[0]));
  w.guard_handed_over("is", points);
  w.split("is", kernel.extents, space.names);
  space.geometry.groups = {groups_of(points), 1, 1};
}

}  // namespace

IndexSpace index_space(const lir::KernelAttrs& kernel, const Dialect& dialect) {
  IndexSpace space;
  if (kernel.policy == lir::Policy::team) team_space(kernel, dialect, space);
  else point_space(kernel, dialect, space);
  return space;
}

}  // namespace rlx::emit_source
