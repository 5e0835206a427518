// rlx bench: runs the benchmark programs of a build tree. They are programs of their own, built with RLX_BENCHMARKS and
// not installed; where there are none, this says so.
#include "context.hpp"
#include "json_output.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

namespace rlx::cli {

namespace {

namespace fs = std::filesystem;
constexpr std::string_view prefix = "rlx_bench_";

fs::path own_folder() {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  return failure ? fs::current_path() : self.parent_path();
}

std::vector<std::string> programs() {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& f : fs::directory_iterator(own_folder(), missing))
    if (const std::string n = f.path().filename(); n.starts_with(prefix)) names.push_back(n.substr(prefix.size()));
  std::sort(names.begin(), names.end());
  return names;
}

int execute(const std::string& name, const std::vector<std::string>& arguments) {
  std::string program = (own_folder() / (std::string(prefix) + name)).string();
  std::vector<char*> argv{program.data()};
  std::vector<std::string> copies = arguments;
  for (std::string& a : copies) argv.push_back(a.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) < 0) throw DeviceError("fork", errno, "cannot run " + program);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  throw DeviceError("waitpid", WTERMSIG(status), program + " was ended by signal " + std::to_string(WTERMSIG(status)));
}

struct Bench {
  Context& context;
  std::string name{};
  std::vector<std::string> arguments{};

  int run() const {
    const auto known = programs();
    if (name.empty()) {
      if (context.json) print_json({{"folder", own_folder().string()}, {"programs", known}});
      else if (known.empty())
        std::cout << "no benchmark programs in " << own_folder().string()
                  << ": they are built by RLX_BENCHMARKS=ON and stay in the build tree\n";
      else
        for (const std::string& n : known) std::cout << n << "\n";
      return 0;
    }
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw ArgumentError("there is no benchmark \"" + name + "\" in " + own_folder().string() +
                          "; rlx bench lists those that are");
    if (context.json) throw UsageError("benchmarks print JSON lines of their own: leave --json out");
    return execute(name, arguments) == 0 ? 0 : 1;
  }
};

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  auto b = std::make_shared<Bench>(Bench{context});
  CLI::App* c = add_command(app, context, "bench", "Lists the benchmark programs beside this one, or runs one of them.",
                            [b] { return b->run(); });
  c->add_option("name", b->name, "benchmark to run");
  c->add_option("arguments", b->arguments, "arguments of the benchmark, behind --");
}

}  // namespace rlx::cli
