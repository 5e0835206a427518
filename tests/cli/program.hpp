// Runs the rlx program as a user does, and reads what it prints.
#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "places.hpp"

namespace rlx::cli::testing {

namespace fs = std::filesystem;

inline fs::path own_matrices() { return places::source() / "tests/data/matrices"; }

/// A file of tests/data/splat.
inline std::string data(const std::string& name) { return places::splat_data(name); }

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (fs::temp_directory_path() / "rlx-cli-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void put(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
}

struct Outcome {
  int status = -1;
  std::string out, err;
  /// What --json printed: exactly one value and nothing else.
  nlohmann::json json() const {
    auto j = nlohmann::json::parse(out, nullptr, false);
    EXPECT_TRUE(j.is_object()) << "standard output is not one JSON object:\n" << out << "\nstandard error:\n" << err;
    return j.is_object() ? j : nlohmann::json::object();
  }
};

inline std::string quoted(const std::string& s) {
  std::string q = "'";
  for (char c : s) q += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return q + "'";
}

/// `environment` holds assignments for the program, or a shell command that comes before it, as "ulimit -f 1;".
inline Outcome rlx(const std::vector<std::string>& arguments, const std::string& environment = "") {
  const TempFolder folder;
  std::ostringstream command;
  command << environment << " timeout -s KILL 120 " << quoted(places::program());
  for (const std::string& a : arguments) command << " " << quoted(a);
  command << " >" << quoted(folder / "out") << " 2>" << quoted(folder / "err") << " </dev/null";
  const int status = std::system(command.str().c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, slurp(folder / "out"), slurp(folder / "err")};
}

/// The command with --json fails with this status, one JSON object with this type of error, and a message, there and on
/// standard error, that holds `part`. (BadInput.OfUsage also runs without --json, which says the same on standard
/// error.)
inline void expect_refusal(std::vector<std::string> arguments, int status, const std::string& type,
                           const std::string& part = "", const std::string& environment = "") {
  arguments.push_back("--json");
  const Outcome o = rlx(arguments, environment);
  std::string shown;
  for (const std::string& a : arguments) shown += a + " ";
  EXPECT_EQ(o.status, status) << shown << "\n" << o.err;
  EXPECT_NE(o.err.find(part), std::string::npos) << shown << "\n" << o.err;
  const auto error = o.json().value("error", nlohmann::json::object());
  EXPECT_EQ(error.value("type", ""), type) << shown << o.out;
  EXPECT_FALSE(error.value("message", "").empty()) << shown;
}

}  // namespace rlx::cli::testing
