// Prints the body of one kernel: regions as blocks, SSA values as constants named v0, v1, ... in order.
#pragma once
#include "compile/emit_source/emit.hpp"
#include "compile/emit_source/scalar.hpp"

#include <map>
#include <string>
#include <vector>

namespace rlx::emit_source {

class BodyPrinter {
 public:
  /// Numbers of checks are positions in `checks`, which is shared by the kernels of a program.
  BodyPrinter(const Graph& graph, const Dialect& dialect, bool team, std::vector<lir::CheckAttrs>& checks)
      : graph_(graph), dialect_(dialect), team_(team), checks_(checks) {}

  void name_index(ValueId v, const std::string& name) { names_[v] = name; }
  void name_buffer(ValueId v, const std::string& pointer) { buffers_[v] = {pointer, false}; }
  void statement(const std::string& text) {
    text_.append(static_cast<std::size_t>(2 * depth_), ' ').append(text) += '\n';
  }
  /// Declares the local memory of the region and all regions in it: languages want that at the start of the kernel.
  void declare_locals(RegionId region);
  void region(RegionId region);
  const std::string& text() const { return text_; }
  bool has_checks() const { return has_checks_; }

 private:
  struct Buffer {
    std::string pointer;
    bool local;
  };

  void node(const Node& n);
  void load(const Node& n);
  void store(const Node& n);
  void loop(const Node& n);
  void reduce(const Node& n);
  void branch(const Node& n);
  void check(const Node& n);

  const std::string& name(ValueId v) const;
  std::vector<std::string> names_of(const std::vector<ValueId>& values) const;
  const Buffer& buffer(const Node& n, ValueId v) const;
  const Element& element(const Node& n, ValueId v) const;
  std::string fresh() { return "v" + std::to_string(next_++); }
  void define(const Node& n, ValueId v, std::string_view expression);
  /// Variables that hold values carried from trip to trip, with their first values.
  std::vector<std::string> carry(const Node& n, std::size_t first);
  /// Opens a loop over the first two operands; the index is the region's first argument.
  void open_loop(const Node& n, ValueId index, std::int64_t step);
  /// Gives the results of a region to variables, all at once.
  void assign(const Node& n, const std::vector<std::string>& variables, const std::vector<ValueId>& results);
  void close();

  const Graph& graph_;
  const Dialect& dialect_;
  bool team_;
  std::vector<lir::CheckAttrs>& checks_;
  std::map<ValueId, std::string> names_;
  std::map<ValueId, Buffer> buffers_;
  std::string text_;
  int depth_ = 1, next_ = 0;
  bool has_checks_ = false;
};

}  // namespace rlx::emit_source
