#include "splat_folder.hpp"

#include <rlx/ir/error.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>

namespace rlx::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* part_suffix = ".part";  // As unfinished files have it.

bool is_part_of(std::string_view entry, std::string_view name) {
  return entry == name || (entry.starts_with(name) && entry.substr(name.size()).starts_with(part_suffix));
}

/// Absolute, without what is no name at its end, so that something can stand beside it.
fs::path place_of(const std::string& target, std::error_code& failed) {
  fs::path place = fs::absolute(target, failed);
  if (!failed) place = fs::weakly_canonical(place, failed);
  return place.has_filename() ? place : place.parent_path();
}

}  // namespace

void refuse_foreign_entries(const std::string& folder, std::initializer_list<std::string_view> own,
                            const std::string& what) {
  if (folder.empty()) throw ArgumentError("the name of the folder to write to is empty");
  std::error_code failed;
  const fs::file_status there = fs::status(folder, failed);
  if (there.type() == fs::file_type::not_found) return;
  std::set<std::string> foreign;  // In the order of names, so that the same one is told each time.
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string entry = at->path().filename().string();
    if (std::ranges::none_of(own, [&](std::string_view name) { return is_part_of(entry, name); }))
      foreign.insert(entry);
  }
  if (failed) throw FormatError(folder, 0, "cannot write to the folder: " + failed.message());
  if (!foreign.empty())
    throw ArgumentError(folder + " holds " + *foreign.begin() + " " + what +
                        ": expected a folder that is new or empty");
}

bool is_within(const std::string& path, const std::string& folder) {
  std::error_code failed;
  const fs::path inner = fs::canonical(path, failed), outer = fs::canonical(folder, failed);
  if (inner.empty() || outer.empty()) return false;
  const fs::path from_there = inner.lexically_relative(outer);
  return !from_there.empty() && *from_there.begin() != "..";
}

FolderLock::FolderLock(const std::string& folder) : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (fd_ < 0) throw FormatError(folder, 0, "cannot open the folder: " + std::generic_category().message(errno));
  if (::flock(fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;  // Some file systems have no locks.
  ::close(fd_);
  throw ArgumentError(folder + ": another training writes to this folder");
}

FolderLock::~FolderLock() { ::close(fd_); }

void PendingFolder::fail(const char* doing, const std::error_code& code) const {
  throw FormatError(target_, 0, std::string(doing) + " the folder: " + code.message());
}

/// A new folder whose name nothing else has.
fs::path PendingFolder::make_beside(const char* suffix) const {
  for (int attempt = 0;; ++attempt) {
    const fs::path path = place_.string() + suffix + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    std::error_code failed;
    if (fs::create_directory(path, failed)) return path;
    if (failed) fail("cannot create", failed);
  }
}

PendingFolder::PendingFolder(const std::string& target) : target_(target) {
  std::error_code failed;
  place_ = place_of(target, failed);
  if (!failed) fs::create_directories(place_.parent_path(), failed);
  if (failed) fail("cannot create", failed);
  // What its owner has made read-only is not replaced, though the folder around it may allow that.
  if (::access(place_.c_str(), W_OK) != 0 && errno != ENOENT)
    fail("cannot replace", std::error_code(errno, std::generic_category()));
  path_ = make_beside(part_suffix);
}

PendingFolder::~PendingFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

void PendingFolder::commit() {
  std::error_code failed, ignored;
  fs::path old;
  if (const fs::file_status there = fs::status(place_, ignored); fs::exists(there)) {
    fs::permissions(path_, there.permissions(), ignored);  // Best effort: the content matters more than its mode.
    old = make_beside(".old");
    fs::rename(place_, old, failed);
    if (failed) {
      fs::remove(old, ignored);
      fail("cannot replace", failed);
    }
  }
  fs::rename(path_, place_, failed);
  if (failed) {
    if (!old.empty()) fs::rename(old, place_, ignored);
    fail("cannot replace", failed);
  }
  path_.clear();
  if (!old.empty()) fs::remove_all(old, ignored);
}

}  // namespace rlx::cli
