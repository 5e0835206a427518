// graph_seeds FOLDER WORDS DICTIONARY: what the fuzzers of graphs start from, made from the definitions of the
// operators, so that a new one needs no file here. Into FOLDER goes a text an operator, of the first of its samples
// that can be built; into DICTIONARY the lines of WORDS and the names of operators, attributes and element types.
#include "fuzz/graphs.hpp"

#include <rlx/ir/builder.hpp>
#include <rlx/ir/text.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

namespace {

using namespace rlx;

// Of one operator, small enough to be cut and joined.
constexpr std::size_t most_samples = 2;

Graph graph_of(const Op& op, const Registry& registry) {
  Graph g("main");
  Builder b(g, registry);
  std::size_t taken = 0;
  for (const AnySample& s : op.samples()) {
    if (!s.breaks.empty() || taken == most_samples) continue;
    const std::string prefix = "s" + std::to_string(taken++);
    Values in;
    for (const SampleOperand& o : s.in) in.push_back(b.input(o.type, prefix + "x" + std::to_string(in.size())));
    const Values out = b.emit(op.name(), in, s.attrs, s.regions);
    for (std::size_t k = 0; k < out.size(); ++k) b.output(out[k], prefix + "y" + std::to_string(k));
  }
  return g;
}

std::set<std::string> words_of(const Registry& registry) {
  std::set<std::string> words;
  for (const Op* op : registry.all()) {
    words.insert(std::string(op->name()) + "(");
    for (const FieldDoc& f : op->default_attrs().table().fields()) words.insert(std::string(f.name) + " = ");
  }
  for (const detail::DTypeRow& row : detail::dtype_rows) words.insert(std::string(row.name) + "[");
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: graph_seeds FOLDER WORDS DICTIONARY\n";
    return 2;
  }
  const std::filesystem::path folder(argv[1]);
  std::filesystem::create_directories(folder);
  const Registry& registry = fuzz::operators();
  std::size_t written = 0;
  for (const Op* op : registry.all()) {
    const Graph g = graph_of(*op, registry);
    if (g.node_count() == 0) continue;
    std::ofstream(folder / (std::string(op->name()) + ".rlx")) << print(g);
    ++written;
  }
  std::ofstream dictionary(argv[3]);
  dictionary << std::ifstream(argv[2]).rdbuf();
  const std::set<std::string> words = words_of(registry);
  for (const std::string& w : words) dictionary << '"' << w << "\"\n";
  dictionary.close();
  std::cout << written << " texts of " << registry.all().size() << " operators, " << words.size() << " words\n";
  return dictionary && written ? 0 : 1;
}
