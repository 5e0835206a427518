// rlx run graph.rlx name=file ... --output name=file
#include "compile_flags.hpp"
#include "context.hpp"
#include "graph_file.hpp"
#include "json_output.hpp"
#include "progress.hpp"

#include <rlx/formats/tensor_file.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <set>

namespace rlx::cli {

namespace {

constexpr std::int64_t shown = 8;  // elements of a result that the program prints

struct Run {
  Context& context;
  CompileFlags flags{};
  std::string file{};
  std::vector<std::string> inputs{}, outputs{}, symbols{};
  bool report = false;
  int run();
};

/// Which output goes to which file; checked before anything is computed.
std::map<std::string, std::string> places_of(const Graph& g, const std::vector<std::string>& given) {
  std::map<std::string, std::string> places;
  std::set<std::filesystem::path> files;
  for (const std::string& text : given) {
    const auto [output, place] = key_value(text, "NAME=FILE", "--output");
    const auto at = std::find(g.output_names.begin(), g.output_names.end(), output);
    if (at == g.output_names.end())
      throw ArgumentError("\"" + g.name + "\" has no output \"" + output +
                          "\"; its outputs: " + joined(g.output_names));
    const Type& t = g.type(g.outputs()[static_cast<std::size_t>(at - g.output_names.begin())]);
    const auto* tensor = std::get_if<TensorType>(&t);
    if (!tensor)
      throw ArgumentError("output \"" + output + "\" is " + to_string(t) + ": only tensors are written to files");
    if (!places.emplace(output, place).second) throw ArgumentError("output \"" + output + "\" is given twice");
    if (!files.insert(std::filesystem::path(place).lexically_normal()).second)
      throw ArgumentError("two outputs go to " + place);
    formats::check_writable(place, tensor->dtype, tensor->rank());
  }
  return places;
}

/// An output in the place of an input would be gone before anybody could look at both; the graph is an input as well.
void refuse_to_replace(const std::map<std::string, std::string>& places, const std::string& graph,
                       const std::vector<std::string>& inputs) {
  for (const auto& [output, place] : places) {
    const auto refuse = [&](const std::string& what, const std::string& file) {
      if (formats::would_replace(place, file))
        throw ArgumentError("output \"" + output + "\" would replace " + what + ", " + file + ": name another file");
    };
    refuse("the graph", graph);
    for (const std::string& text : inputs) {
      const auto [input, file] = key_value(text, "NAME=FILE");
      refuse("input \"" + input + "\"", file);
    }
  }
}

nlohmann::json described(const std::string& name, const HostValue& v) {
  nlohmann::json j{{"name", name}, {"type", to_string(type_of(v))}};
  const auto* t = std::get_if<HostTensor>(&v);
  if (!t) return j;
  j["shape"] = t->shape();
  j["dtype"] = rlx::name(t->dtype());
  auto& values = j["first_values"] = nlohmann::json::array();
  for (std::int64_t i = 0; i < std::min(shown, t->numel()); ++i) values.push_back(element_json(*t, i));
  return j;
}

int Run::run() {
  warn_of_idle_device(flags.device);
  auto progress = std::make_unique<Progress>();
  progress->stage("reading");
  const Graph g = read_graph(file);
  const auto places = places_of(g, outputs);
  refuse_to_replace(places, file, inputs);
  Bindings bindings = symbol_bindings(g, symbols);
  const HostValues arguments = read_inputs(g, inputs, bindings);
  const Graph whole = with_symbols(g, bindings);

  const auto start = std::chrono::steady_clock::now();
  progress->stage("compiling " + g.name + " for " + flags.device);
  const runtime::Executable executable(runtime::open_device(flags.device), whole, catalog(), flags.options());
  const auto compiled = std::chrono::steady_clock::now();
  progress->stage("running " + g.name + " on " + flags.device);
  const HostValues results = executable.run(arguments);
  const auto done = std::chrono::steady_clock::now();
  progress.reset();

  nlohmann::json r{{"graph", g.name},
                   {"device", flags.device},
                   {"seconds_compile", std::chrono::duration<double>(compiled - start).count()},
                   {"seconds", std::chrono::duration<double>(done - compiled).count()},
                   {"peak_bytes", executable.statistics().peak_bytes},
                   {"outputs", nlohmann::json::array()}};
  for (std::size_t i = 0; i < results.size(); ++i) {
    nlohmann::json out = described(g.output_names[i], results[i]);
    if (const auto it = places.find(g.output_names[i]); it != places.end()) {
      formats::write_tensor(it->second, std::get<HostTensor>(results[i]));
      out["file"] = it->second;
    }
    r["outputs"].push_back(std::move(out));
  }
  if (context.json) {
    if (report) r["report"] = report_json(executable.report());
    print_json(r);
    return 0;
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& out = r["outputs"][i];
    std::cout << out["name"].get<std::string>() << ": " << out["type"].get<std::string>();
    if (out.contains("file")) std::cout << " -> " << out["file"].get<std::string>();
    else if (out.contains("first_values")) {
      std::string text = out["first_values"].dump();
      std::erase(text, '"');
      if (std::get<HostTensor>(results[i]).numel() > shown) text.insert(text.size() - 1, ",...");
      std::cout << " = " << text;
    }
    std::cout << "\n";
  }
  if (report) std::cout << "\n" << executable.report().to_table();
  return 0;
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  auto r = std::make_shared<Run>(Run{context});
  CLI::App* c = add_command(app, context, "run", "Runs a graph on files and writes its results to files.",
                            [r] { return r->run(); });
  c->add_option("graph", r->file, "the graph in text form")->required();
  c->add_option("inputs", r->inputs, "NAME=FILE for every input: .npy, FILE.safetensors:NAME, FILE.h5:/NAME or .mtx");
  c->add_option("-o,--output", r->outputs, "NAME=FILE for an output, any number of times; the others are shown")
      ->allow_extra_args(false);
  c->add_option("--symbol", r->symbols, "NAME=NUMBER for a symbol that no input's shape gives")
      ->allow_extra_args(false);
  c->add_flag("--report", r->report, "print the dispatch report");
  r->flags.add_to(*c);
}

}  // namespace rlx::cli
