// What the tests of file formats share: data folders, temporary files, expected errors.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>
#include <rlx/ir/error.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "places.hpp"

namespace rlx::formats::testing {

inline std::string shared_folder() { return places::shared(); }

/// Skips the test, naming the folder, where `path` below the shared folder is absent.
#define RLX_NEED_SHARED(path)                                   \
  if (!std::filesystem::exists(shared_folder() + "/" + (path))) \
  GTEST_SKIP() << "no test data in " << shared_folder() << "/" << (path)

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rlx-formats-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  const std::string& path() const { return path_; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

inline void put(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string get(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

/// Runs `act` and expects an error of type E whose message holds `part`.
template <class E, class F>
void expect_error(F act, std::string_view part, std::string_view context = {}) {
  try {
    act();
    ADD_FAILURE() << context << ": nothing was thrown, expected: " << part;
  } catch (const E& e) {
    EXPECT_NE(std::string_view(e.what()).find(part), std::string_view::npos)
        << context << ": " << e.what() << "\nlacks: " << part;
  } catch (const std::exception& e) { ADD_FAILURE() << context << ": another type: " << e.what(); }
}

}  // namespace rlx::formats::testing
