#include "ir/node_check.hpp"
#include "ir/wording.hpp"

#include <rlx/ir/located.hpp>
#include <rlx/ir/text.hpp>

#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

namespace rlx {

namespace {

class Parser {
 public:
  Parser(std::string_view text, const Registry& registry, std::string file, TextLines lines)
      : text_(text), in_(text, std::move(file)), registry_(registry), lines_(lines) {}

  Graph graph() {
    in_.expect("rlx");
    const std::size_t version_at = in_.token_offset();
    if (const std::int64_t v = in_.integer(); v != text_version)
      in_.fail_at(version_at, "text form of version " + std::to_string(v) + "; this library reads version " +
                                  std::to_string(text_version));
    in_.expect("graph");
    g_.name = in_.name("the name of the graph");
    in_.expect("(");
    if (!in_.accept(")")) {
      do input();
      while (in_.accept(","));
      in_.expect(")");
    }
    if (in_.accept("symbols")) symbols();
    in_.expect("{");
    body(Graph::top);
    if (!in_.at_end()) in_.fail("the end of the text");
    return std::move(g_);
  }

 private:
  /// A value's name where the text defines it.
  struct Name {
    std::string text;
    std::size_t at;
  };
  /// Its node is being read; in scope; of a region that is over.
  enum class State : std::uint8_t { pending, open, closed };
  struct Known {
    ValueId id;
    State state;
  };

  Name value() {
    const std::size_t at = in_.token_offset();
    in_.expect("%");
    return {in_.value_name(), at};
  }

  void announce(const Name& n) {
    if (!values_.emplace(n.text, Known{-1, State::pending}).second)
      in_.fail_at(n.at, "value %" + shortened(n.text) + " is defined twice");
  }
  void define(const Name& n, ValueId id) {
    values_.at(n.text) = {id, State::open};
    scope_.push_back(n.text);
  }

  ValueId use(const Name& n) {
    if (const auto it = values_.find(n.text); it != values_.end()) {
      if (it->second.state == State::open) return it->second.id;
      in_.fail_at(n.at, "value %" + shortened(n.text) +
                            (it->second.state == State::closed ? " belongs to another region"
                                                               : " is used in its own definition"));
    }
    in_.fail_at(n.at, defined_later(n) ? "value %" + shortened(n.text) +
                                             " is used before its definition: nodes are out of order or form a cycle"
                                       : "there is no value %" + shortened(n.text));
  }

  /// Only chooses between two messages, so a look at each later mention is enough: "%name, %other =".
  bool defined_later(const Name& n) const {
    const std::string mention = "%" + n.text;
    std::size_t at = n.at + 1;
    for (int tries = 0; tries < 1000 && (at = text_.find(mention, at)) != std::string_view::npos; ++tries, ++at) {
      const std::size_t end = text_.find_first_of(" ,=)\n:", at);
      if (end != at + mention.size()) continue;
      const std::size_t stop = text_.find_first_of("=()\n:\"", end);
      if (stop != std::string_view::npos && text_[stop] == '=') return true;
    }
    return false;
  }

  Type type() { return FieldCodec<Type>::parse(in_); }

  /// The quoted name of an input or output, or else its value's; no two in `names` alike.
  void add_name(std::vector<std::string>& names, const Name& v, const char* what) {
    const std::size_t at = in_.token_offset();
    std::string name = in_.peek() == '"' ? in_.quoted() : v.text;
    if (!used_names_.insert(name).second)
      in_.fail_at(at, std::string(what) + " \"" + shortened(name) + "\" is given twice");
    names.push_back(std::move(name));
  }

  void input() {
    const Name v = value();
    announce(v);
    add_name(g_.input_names, v, "input");
    in_.expect(":");
    define(v, g_.add_argument(Graph::top, type()));
  }

  void symbols() {
    in_.expect("(");
    do {
      const std::size_t at = in_.token_offset();
      const std::string name = in_.name("the name of a symbol");
      SymbolInfo info;
      if (in_.accept("in")) {
        in_.expect("[");
        info.lower = in_.integer();
        in_.expect(",");
        if (!in_.accept("inf")) info.upper = in_.integer();
        in_.expect("]");
      }
      if (in_.accept("mod")) info.divisor = in_.integer();
      if (info.lower > info.upper || info.divisor < 1)
        in_.fail_at(at, "symbol " + shortened(name) + " can take no value: from " + std::to_string(info.lower) +
                            " to " + std::to_string(info.upper) + " in multiples of " + std::to_string(info.divisor));
      if (!g_.symbols.emplace(name, info).second) in_.fail_at(at, "symbol " + shortened(name) + " is declared twice");
    } while (in_.accept(","));
    in_.expect(")");
  }

  /// Nodes, return and the closing brace; what the region defined goes out of scope.
  void body(RegionId r) {
    while (!in_.accept("return")) node(r);
    if (r == Graph::top) used_names_.clear();
    if (in_.peek() == '%') {
      do {
        const Name v = value();
        g_.region(r).results.push_back(use(v));
        if (r == Graph::top) add_name(g_.output_names, v, "output");
      } while (in_.accept(","));
    }
    in_.expect("}");
  }

  void region(RegionId r) {
    const TextReader::Depth depth(in_);
    const std::vector<std::string> outer = std::exchange(scope_, {});
    in_.expect("region");
    in_.expect("(");
    if (!in_.accept(")")) {
      do {
        const Name v = value();
        announce(v);
        in_.expect(":");
        define(v, g_.add_argument(r, type()));
      } while (in_.accept(","));
      in_.expect(")");
    }
    in_.expect("{");
    body(r);
    for (const std::string& name : scope_) values_.at(name).state = State::closed;
    scope_ = outer;
  }

  const Op& op(bool has_results) {
    const std::size_t at = in_.token_offset();
    const std::string name = in_.identifier(has_results ? "an operator" : "a node or \"return\"");
    try {
      return registry_.get(name);
    } catch (const ArgumentError& e) { in_.fail_at(at, e.what()); }
  }

  void node(RegionId parent) {
    const std::size_t at = in_.token_offset();
    std::vector<Name> results;
    if (in_.peek() == '%') {
      do announce(results.emplace_back(value()));
      while (in_.accept(","));
      in_.expect("=");
    }
    const NodeId id = g_.reserve_node();
    Node n;
    n.op = &op(!results.empty());
    in_.expect("(");
    if (!in_.accept(")")) {
      do n.operands.push_back(use(value()));
      while (in_.accept(","));
      in_.expect(")");
    }
    if (in_.accept("@")) n.record = record();
    n.attrs = n.op->default_attrs().table().parse(in_);
    if (in_.accept("(")) {
      do region(n.regions.emplace_back(g_.add_region(id)));
      while (in_.accept(","));
      in_.expect(")");
    }
    const Types stated = result_types(results);
    n.note = note();
    n.location = location(at);
    const Types inferred = infer(n, results, at);
    if (inferred.size() != results.size())
      refuse(n, "arity",
             "gives " + counted(inferred.size(), "result") + ", but " + std::to_string(results.size()) + " stated",
             results, at);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (stated[i] != inferred[i])
        refuse(n, "type",
               "%" + shortened(results[i].text) + " is stated as " + to_string(stated[i]) + ", but is " +
                   to_string(inferred[i]),
               results, at);
    g_.place_node(id, parent, std::move(n), inferred);
    for (std::size_t i = 0; i < results.size(); ++i) define(results[i], g_.node(id).results[i]);
  }

  std::string record() {
    const std::size_t at = in_.offset();
    std::string id = text_.substr(at).starts_with('"') ? in_.quoted() : in_.record_id();
    if (id.empty()) in_.fail("the id of a record", at);
    return id;
  }

  Types result_types(const std::vector<Name>& results) {
    Types types;
    for (std::size_t i = 0; i < results.size(); ++i) {
      in_.expect(i ? "," : ":");
      types.push_back(type());
    }
    return types;
  }

  std::string note() {
    if (!in_.accept("note")) return {};
    in_.expect("(");
    const std::size_t at = in_.token_offset();
    std::string text = in_.quoted();
    if (text.empty()) in_.fail("the text of a note", at);
    in_.expect(")");
    return text;
  }

  Location location(std::size_t node_at) {
    if (!in_.accept("loc")) {
      if (lines_ == TextLines::forget || in_.file().empty()) return {};
      return {in_.file(), static_cast<std::uint32_t>(in_.line_of(node_at))};
    }
    in_.expect("(");
    const std::size_t at = in_.token_offset();
    Location l{in_.quoted(), 0};
    if (l.file.empty()) in_.fail("the name of a file", at);
    in_.expect(":");
    const std::size_t line_at = in_.token_offset();
    const std::uint64_t line = in_.unsigned_integer();
    if (line > std::numeric_limits<std::uint32_t>::max()) in_.fail("the number of a line, below 2^32", line_at);
    l.line = static_cast<std::uint32_t>(line);
    in_.expect(")");
    return l;
  }

  Types infer(const Node& n, const std::vector<Name>& results, std::size_t at) {
    std::vector<RegionType> regions;
    for (RegionId r : n.regions)
      regions.push_back({g_.types_of(g_.region(r).arguments), g_.types_of(g_.region(r).results)});
    const Types types = g_.types_of(n.operands);
    try {
      return check_node(*n.op, n.attrs, Signature{types, regions, &g_.symbols});
    } catch (const VerifyError& e) { throw located(e.op(), e.constraint(), e.what(), results, at); }
  }

  [[noreturn]] void refuse(const Node& n, const std::string& constraint, const std::string& why,
                           const std::vector<Name>& results, std::size_t at) const {
    const std::string op(n.op->name());
    throw located(op, constraint, op + ": " + constraint + ": " + why, results, at);
  }

  LocatedVerifyError located(const std::string& op, const std::string& constraint, const std::string& message,
                             const std::vector<Name>& results, std::size_t at) const {
    const std::string file = in_.file().empty() ? "<memory>" : in_.file();
    const std::uint64_t line = in_.line_of(at);
    std::string node;
    for (const Name& r : results) node += (node.empty() ? "%" : ", %") + r.text;
    return {op,
            constraint,
            message + "  " + file + ":" + std::to_string(line) + " (byte " + std::to_string(at) + ")",
            {in_.file(), line, node}};
  }

  std::string_view text_;
  TextReader in_;
  const Registry& registry_;
  TextLines lines_;
  Graph g_;
  std::unordered_map<std::string, Known> values_;
  std::vector<std::string> scope_;  // names that the open region defines
  std::set<std::string> used_names_;
};

}  // namespace

Graph parse(std::string_view text, const Registry& registry, std::string file, TextLines lines) {
  return Parser(text, registry, std::move(file), lines).graph();
}

}  // namespace rlx
