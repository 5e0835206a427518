// rlx doctor: what of this machine the program sees, and what it lacks.
#include "context.hpp"
#include "environment.hpp"
#include "json_output.hpp"

#include <rlx/compile/compile.hpp>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/memory.hpp>
#include <rlx/linalg/linalg.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/cache_folder.hpp>
#include <rlx/runtime/executable.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

namespace rlx::cli {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string compiler() {
#ifdef __clang__
  return __VERSION__;  // begins with its name
#else
  return "GCC " __VERSION__;
#endif
}

json processor() {
  json p{{"model", "unknown"}, {"threads", std::thread::hardware_concurrency()}};
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("model name")) continue;
    p["model"] = line.substr(std::min(line.size(), line.find(':') + 2));
    break;
  }
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) p["allowed"] = CPU_COUNT(&allowed);
  return p;
}

json cache() {
  const fs::path folder = runtime::cache_folder_from_environment();
  if (folder.empty()) return {{"folder", nullptr}};
  std::uintmax_t bytes = 0, files = 0;
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(folder, ignored), end; it != end; it.increment(ignored)) {
    if (ignored) break;
    if (!it->is_regular_file(ignored)) continue;
    bytes += it->file_size(ignored);
    ++files;
  }
  json c{{"folder", folder.string()}, {"files", files}, {"bytes", bytes}};
  if (const std::string problem = runtime::cache_folder_problem(folder); !problem.empty()) c["problem"] = problem;
  return c;
}

/// A device is opened, since that is what can fail although it is there.
json device(const runtime::BackendEntry& b) {
  const runtime::Availability a = b.availability();
  json d{{"name", b.name}, {"available", a.available}, {"looked_for", a.looked_for}};
  if (!a.available) return d;
  try {
    d["target"] = runtime::open_device(b.name)->target().description;
  } catch (const std::exception& e) { d["problem"] = e.what(); }
  return d;
}

/// What is wrong with the values of the variables that no other part of the examination reads. Each is judged by what
/// reads it.
json environment_problems() {
  json problems = json::array();
  const auto attempt = [&](auto read) {
    try {
      read();
    } catch (const std::exception& e) { problems.push_back(e.what()); }
  };
  attempt([] { options_from_environment(CompileOptions{}); });
  attempt([] { available_memory(); });
  if (const char* name = std::getenv("RLX_DEVICE"); name && *name) attempt([&] { runtime::open_device(name); });
  const char* folders = std::getenv("RLX_PLUGIN_PATH");
  std::istringstream list(folders ? folders : "");
  for (std::string f; std::getline(list, f, ':');)
    if (!f.empty() && !fs::is_directory(f)) problems.push_back("RLX_PLUGIN_PATH names " + f + ", which is no folder");
  return problems;
}

/// Variables of our prefix that program and library do not read: misspelt, or meant for scripts, tests and benchmarks.
json unread_variables() {
  json unread = json::array();
  const auto table = environment_variables();
  for (char** v = environ; v && *v; ++v) {
    const std::string_view entry = *v, name = entry.substr(0, entry.find('='));
    if (name.starts_with("RLX_") &&
        std::none_of(table.begin(), table.end(), [&](const auto& k) { return k.name == name; }))
      unread.push_back(name);
  }
  return unread;
}

json examination() {
  json r{{"version", RLX_VERSION}, {"compiler", compiler()}, {"processor", processor()}, {"cache", cache()}};
  try {
    r["memory"] = {{"available_bytes", available_memory()}};
  } catch (const std::exception& e) { r["memory"] = {{"problem", e.what()}}; }
  r["devices"] = json::array();
  for (const runtime::BackendEntry* b : runtime::backends()) r["devices"].push_back(device(*b));
  const linalg::Plugin p = linalg::direct_solvers();
  r["plugins"] = plugins_json();
  r["environment"] = json::array();
  for (const EnvironmentVariable& v : environment_variables()) {
    const char* value = std::getenv(std::string(v.name).c_str());
    r["environment"].push_back({{"name", v.name}, {"meaning", v.meaning}, {"value", value ? json(value) : json()}});
  }
  r["unread"] = unread_variables();
  json problems = environment_problems();
  if (r["cache"].contains("problem")) problems.push_back(r["cache"]["problem"]);
  if (!p.loaded) problems.push_back(p.name + " is not there: sparse lu and cholesky refuse");
  for (const json& d : r["devices"])
    if (d.contains("problem"))
      problems.push_back(d["name"].get<std::string>() + ": " + d["problem"].get<std::string>());
  r["problems"] = problems;
  return r;
}

void print_text(const json& r) {
  std::cout << "rlx " << r["version"].get<std::string>() << ", built by " << r["compiler"].get<std::string>() << "\n";
  const json& p = r["processor"];
  std::cout << "processor: " << p["model"].get<std::string>() << ", " << p["threads"] << " hardware threads, "
            << p.value("allowed", 0) << " allowed\n";
  if (r["memory"].contains("available_bytes"))
    std::cout << "memory: " << r["memory"]["available_bytes"].get<std::int64_t>() / (1 << 20)
              << " MiB available to this process\n";
  if (r["cache"]["folder"].is_null()) std::cout << "cache of compiled code: off\n";
  else
    std::cout << "cache of compiled code: " << r["cache"]["folder"].get<std::string>() << ", "
              << counted(r["cache"]["files"].get<std::int64_t>(), "file") << ", "
              << counted(r["cache"]["bytes"].get<std::int64_t>(), "byte") << "\n";
  std::cout << "\ndevices\n";
  for (const json& d : r["devices"]) {
    std::cout << "  " << d["name"].get<std::string>() << ": " << (d["available"].get<bool>() ? "" : "not available, ")
              << d["looked_for"].get<std::string>();
    // The whole target, with every feature of the processor, is in the JSON.
    if (const auto t = d.value("target", ""); !t.empty())
      std::cout << "; " << (t.size() > 100 ? t.substr(0, 100) + "..." : t);
    std::cout << "\n";
  }
  std::cout << "\nplug-ins\n";
  for (const json& g : r["plugins"]) {
    std::cout << "  " << g["name"].get<std::string>() << ": "
              << (g["loaded"].get<bool>() ? g["versions"].get<std::string>() + " (" + g["path"].get<std::string>() + ")"
                                          : "not there")
              << "\n";
    if (!g["loaded"].get<bool>())
      for (const json& l : g["looked_for"]) std::cout << "    looked for " << l.get<std::string>() << "\n";
  }
  std::cout << "\nenvironment\n";
  for (const json& v : r["environment"])
    std::cout << "  " << v["name"].get<std::string>()
              << (v["value"].is_null() ? " (not set)" : "=" + v["value"].get<std::string>()) << ": "
              << v["meaning"].get<std::string>() << "\n";
  for (const json& v : r["unread"])
    std::cout << "  " << v.get<std::string>() << " is set, and neither the program nor the library reads it\n";
  std::cout << "\n" << (r["problems"].empty() ? "no problems found\n" : "problems\n");
  for (const json& x : r["problems"]) std::cout << "  " << x.get<std::string>() << "\n";
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  add_command(app, context, "doctor", "Examines processor, memory, cache, plug-ins, devices and environment.",
              [&context] {
                const json r = examination();
                if (context.json) print_json(r);
                else print_text(r);
                return 0;
              });
}

}  // namespace rlx::cli
