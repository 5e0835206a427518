#include <rlx/ir/op.hpp>
#include <rlx/ir/text.hpp>

#include <algorithm>
#include <utility>

namespace rlx {

namespace {

/// Numbers values in the order in which the text defines them. Passes over what is broken: verify() names values by it.
class Numbering {
 public:
  explicit Numbering(const Graph& g) : g_(g), numbers_(g.value_count(), -1), seen_(g.region_count()) {
    region(Graph::top);
  }
  std::vector<std::int32_t> take() { return std::move(numbers_); }

 private:
  void define(const std::vector<ValueId>& values) {
    for (ValueId v : values)
      if (v >= 0 && static_cast<std::size_t>(v) < numbers_.size() && numbers_[static_cast<std::size_t>(v)] < 0)
        numbers_[static_cast<std::size_t>(v)] = next_++;
  }
  void region(RegionId r) {
    if (r < 0 || static_cast<std::size_t>(r) >= seen_.size() || seen_[static_cast<std::size_t>(r)] ||
        depth_ > max_nesting)
      return;
    seen_[static_cast<std::size_t>(r)] = true;
    ++depth_;
    define(g_.region(r).arguments);
    for (NodeId n : g_.region(r).nodes) {
      if (n < 0 || static_cast<std::size_t>(n) >= g_.node_count()) continue;
      define(g_.node(n).results);
      for (RegionId inner : g_.node(n).regions) region(inner);
    }
    --depth_;
  }
  const Graph& g_;
  std::vector<std::int32_t> numbers_;
  std::vector<bool> seen_;
  std::int32_t next_ = 0;
  int depth_ = 0;
};

class GraphPrinter {
 public:
  GraphPrinter(const Graph& g, PrintOptions options) : g_(g), options_(options), numbers_(print_numbers(g)) {}

  std::string text() {
    out_ += "rlx " + std::to_string(text_version) + "\ngraph ";
    print_name(out_, g_.name);
    out_ += '(';
    const auto& inputs = g_.inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (i) out_ += ", ";
      value(inputs[i]);
      name(g_.input_names, i);
      out_ += ": " + to_string(g_.type(inputs[i]));
    }
    out_ += ')';
    symbols();
    out_ += " {\n";
    body(g_.region(Graph::top), 1);
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  void value(ValueId v) {
    out_ += '%';
    const bool known =
        v >= 0 && static_cast<std::size_t>(v) < numbers_.size() && numbers_[static_cast<std::size_t>(v)] >= 0;
    out_ += known ? std::to_string(numbers_[static_cast<std::size_t>(v)]) : "?" + std::to_string(v);
  }
  void values(const std::vector<ValueId>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i) out_ += ", ";
      value(list[i]);
    }
  }
  void name(const std::vector<std::string>& names, std::size_t i) {
    if (i >= names.size()) return;
    out_ += ' ';
    print_quoted(out_, names[i]);
  }
  void symbols() {
    const char* before = " symbols(";
    for (const auto& [symbol, info] : g_.symbols) {
      out_ += std::exchange(before, ", ");
      print_name(out_, symbol);
      if (const SymbolInfo all; info.lower != all.lower || info.upper != all.upper)
        out_ += " in [" + std::to_string(info.lower) + ", " +
                (info.upper == all.upper ? "inf" : std::to_string(info.upper)) + "]";
      if (info.divisor != 1) out_ += " mod " + std::to_string(info.divisor);
    }
    if (!g_.symbols.empty()) out_ += ')';
  }

  void body(const Region& r, std::size_t indent) {
    const std::string blanks(2 * indent, ' ');
    for (NodeId n : r.nodes) {
      out_ += blanks;
      node(g_.node(n), indent);
    }
    out_ += blanks + "return";
    for (std::size_t i = 0; i < r.results.size(); ++i) {
      out_ += i ? ", " : " ";
      value(r.results[i]);
      if (&r == &g_.region(Graph::top)) name(g_.output_names, i);
    }
    out_ += '\n';
  }

  void node(const Node& n, std::size_t indent) {
    if (!n.op) throw InternalError("print: a node has no operator");
    values(n.results);
    if (!n.results.empty()) out_ += " = ";
    (out_ += n.op->name()) += '(';
    values(n.operands);
    out_ += ')';
    if (!n.record.empty()) record(n.record);
    if (const std::string attrs = n.attrs.to_string(); !attrs.empty()) out_ += ' ' + attrs;
    if (!n.regions.empty()) regions(n.regions, indent);
    for (std::size_t i = 0; i < n.results.size(); ++i) (out_ += i ? ", " : " : ") += to_string(g_.type(n.results[i]));
    if (options_.locations && !n.note.empty()) {
      out_ += " note(";
      print_quoted(out_, n.note);
      out_ += ')';
    }
    if (options_.locations && !n.location.file.empty()) {
      out_ += " loc(";
      print_quoted(out_, n.location.file);
      out_ += ':' + std::to_string(n.location.line) + ')';
    }
    out_ += '\n';
  }

  void record(const std::string& id) {
    const bool plain = std::all_of(id.begin(), id.end(), [](unsigned char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
             c == ':' || c == '-';
    });
    out_ += " @";
    if (plain) out_ += id;
    else print_quoted(out_, id);
  }

  void regions(const std::vector<RegionId>& list, std::size_t indent) {
    if (++printed_ > g_.region_count()) throw InternalError("print: a region is inside itself");
    const std::string blanks(2 * indent, ' ');
    out_ += " (\n";
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Region& r = g_.region(list[i]);
      out_ += blanks + "  region(";
      for (std::size_t a = 0; a < r.arguments.size(); ++a) {
        if (a) out_ += ", ";
        value(r.arguments[a]);
        out_ += ": " + to_string(g_.type(r.arguments[a]));
      }
      out_ += ") {\n";
      body(r, indent + 2);
      out_ += blanks + (i + 1 < list.size() ? "  },\n" : "  }\n");
    }
    out_ += blanks + ')';
  }

  const Graph& g_;
  PrintOptions options_;
  std::vector<std::int32_t> numbers_;
  std::size_t printed_ = 0;
  std::string out_;
};

}  // namespace

std::vector<std::int32_t> print_numbers(const Graph& g) { return Numbering(g).take(); }

std::string print(const Graph& g, PrintOptions options) { return GraphPrinter(g, options).text(); }

}  // namespace rlx
