// Where `rlx splat` writes to. One rule: a file that the user names is replaced, whole or not at all, as all writers of
// rlx do; so is a folder. What is there and is no earlier result of the same command is refused, and an earlier result
// is replaced only where an option says so.
#pragma once
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>

namespace rlx::cli {

/// Throws ArgumentError - "FOLDER holds ENTRY `what`: expected a folder that is new or empty" - where the folder has an
/// entry that is none of `own`, nor the unfinished part of one that a killed run left, or no name, and FormatError
/// where it is no folder or cannot be read. A folder that is not there is as good as an empty one.
void refuse_foreign_entries(const std::string& folder, std::initializer_list<std::string_view> own,
                            const std::string& what);

/// Whether a file or folder that is there lies in a folder, at any depth.
bool is_within(const std::string& path, const std::string& folder);

/// A folder for as long as something writes to it; of another one that lives it is refused. It ends with the process,
/// killed or not.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_;
};

/// A folder that appears whole or not at all: made beside the target under another name, then renamed. Failures are
/// FormatErrors that name the target, which is then as it was; a symbolic link keeps pointing where it does.
class PendingFolder {
 public:
  explicit PendingFolder(const std::string& target);
  ~PendingFolder();  ///< Removes it unless committed.
  PendingFolder(const PendingFolder&) = delete;
  PendingFolder& operator=(const PendingFolder&) = delete;

  /// Where the content lies until commit.
  const std::filesystem::path& path() const { return path_; }
  /// Takes the target's place; what was there is removed, with all that it held.
  void commit();

 private:
  [[noreturn]] void fail(const char* doing, const std::error_code& code) const;
  std::filesystem::path make_beside(const char* suffix) const;

  std::string target_;           ///< As the caller named it.
  std::filesystem::path place_;  ///< Absolute, behind symbolic links.
  std::filesystem::path path_{};
};

}  // namespace rlx::cli
