#include "graph_file.hpp"

#include "context.hpp"
#include "right_side.hpp"

#include <rlx/compile/compile.hpp>
#include <rlx/formats/tensor_file.hpp>
#include <rlx/formats/text_file.hpp>
#include <rlx/ir/bind.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ir/text.hpp>

#include <algorithm>
#include <charconv>
#include <map>

namespace rlx::cli {

Graph read_graph(const std::string& path) {
  return parse(formats::read_text(path), catalog().operators, path, TextLines::remember);
}

std::string joined(const std::vector<std::string>& names) {
  std::string s;
  for (const std::string& n : names) s += (s.empty() ? "" : ", ") + n;
  return s.empty() ? "none" : s;
}

Bindings symbol_bindings(const Graph& g, const std::vector<std::string>& given) {
  Bindings bindings;
  for (const std::string& text : given) {
    const auto [symbol, value] = key_value(text, "NAME=NUMBER", "--symbol");
    std::int64_t v = 0;
    if (const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), v);
        failure != std::errc{} || end != value.data() + value.size())
      throw UsageError("--symbol " + symbol + " is \"" + value + "\", expected a whole number");
    if (size_nodes(g).contains(symbol))
      throw ArgumentError("symbol \"" + symbol + "\" is a size that \"" + g.name + "\" finds when it runs");
    if (!g.symbols.contains(symbol)) {
      std::vector<std::string> known;
      for (const auto& [name, info] : g.symbols) known.push_back(name);
      throw ArgumentError("\"" + g.name + "\" has no symbol \"" + symbol + "\"; its symbols: " + joined(known));
    }
    if (!bindings.emplace(symbol, v).second) throw ArgumentError("symbol \"" + symbol + "\" is given twice");
  }
  return bindings;
}

Graph with_symbols(const Graph& g, const Bindings& bindings) {
  const auto introduced = size_nodes(g);
  std::vector<std::string> missing;
  for (const auto& [symbol, info] : g.symbols)
    if (!bindings.contains(symbol) && !introduced.contains(symbol)) missing.push_back(symbol);
  if (!missing.empty())
    throw ArgumentError("\"" + g.name + "\" needs values of its symbols: " + joined(missing) +
                        " (--symbol NAME=NUMBER)");
  return g.symbols.empty() ? g : specialise(g, catalog().operators, bindings);
}

static HostValue read_input(const Type& declared, const std::string& place) {
  if (const auto* s = std::get_if<SparseType>(&declared)) {
    if (s->format != SparseFormat::csr)
      throw ArgumentError("it is declared " + to_string(declared) + ": only csr matrices are read from files");
    HostSparse a = read_matrix(place);
    if (a.type.index != s->index) {
      const auto widened = [&](const HostTensor& from) {
        HostTensor to(s->index, from.shape());
        for (std::int64_t i = 0; i < from.numel(); ++i) to.set_i64(i, from.get_i64(i));
        return to;
      };
      if (s->index == DType::i64)
        a = {{a.type.format, a.type.dtype, DType::i64, a.type.shape, a.type.entries},
             widened(a.offsets),
             widened(a.indices),
             a.values};
    }
    return a;
  }
  const auto* t = std::get_if<TensorType>(&declared);
  if (!t) throw ArgumentError("it is declared " + to_string(declared) + ": no file holds such a value");
  HostTensor tensor = formats::read_tensor(place);
  // Matrix Market has no vectors, only matrices of one column.
  if (t->rank() == 1 && tensor.rank() == 2 && tensor.shape()[1] == 1 && place.ends_with(".mtx"))
    tensor = tensor.reshaped({tensor.numel()});
  return tensor;
}

HostValues read_inputs(const Graph& g, const std::vector<std::string>& given, Bindings& bindings) {
  std::map<std::string, std::string> places;
  for (const std::string& text : given) {
    const auto [input, place] = key_value(text, "NAME=FILE");
    if (std::find(g.input_names.begin(), g.input_names.end(), input) == g.input_names.end())
      throw ArgumentError("\"" + g.name + "\" has no input \"" + input + "\"; its inputs: " + joined(g.input_names));
    if (!places.emplace(input, place).second) throw ArgumentError("input \"" + input + "\" is given twice");
  }
  std::vector<std::string> missing;
  for (const std::string& input : g.input_names)
    if (!places.contains(input)) missing.push_back(input);
  if (!missing.empty())
    throw ArgumentError("\"" + g.name + "\" lacks inputs: " + joined(missing) + " (NAME=FILE for each)");
  const auto who = [&](const std::string& input) { return "input \"" + input + "\" (" + places.at(input) + ")"; };
  const Types declared = g.types_of(g.inputs());
  HostValues values;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const std::string& input = g.input_names[i];
    try {
      values.push_back(read_input(declared[i], places.at(input)));
    } catch (const ArgumentError& e) { throw ArgumentError(who(input) + ": " + e.what()); }
  }
  solve_symbols(declared, values, bindings);
  for (std::size_t i = 0; i < declared.size(); ++i)
    bind_symbols(declared[i], values[i], who(g.input_names[i]), bindings);
  return values;
}

}  // namespace rlx::cli
