// `rlx splat view` as a process, and requests to it as a client writes them.
#pragma once
#include "program.hpp"

#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fcntl.h>

extern char** environ;

namespace rlx::cli::testing {

/// Starts a program with ends of pipes as its descriptors, in a process group of its own; ended with all that it
/// started.
class Process {
 public:
  struct Redirect {
    int descriptor, from;
  };
  Process(std::vector<std::string> arguments, const std::vector<Redirect>& redirects) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const Redirect& r : redirects) posix_spawn_file_actions_adddup2(&actions, r.from, r.descriptor);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::vector<char*> words;
    for (std::string& a : arguments) words.push_back(a.data());
    words.push_back(nullptr);
    if (posix_spawnp(&pid_, words[0], &actions, &attributes, words.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  ~Process() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool started() const { return pid_ > 0; }
  pid_t id() const { return pid_; }
  /// Its exit status after `signal` (0: none is sent); 128 where it was killed.
  int end(int signal) {
    ::kill(pid_, signal);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }

 private:
  pid_t pid_ = -1;
};

/// Both ends above the descriptors that programs are given, and closed in them.
struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (::pipe(ends) != 0) return;
    read = ::fcntl(ends[0], F_DUPFD_CLOEXEC, 100);
    write = ::fcntl(ends[1], F_DUPFD_CLOEXEC, 100);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~Pipe() {
    close_read();
    close_write();
  }
  void close_read() { ::close(std::exchange(read, -1)); }
  void close_write() { ::close(std::exchange(write, -1)); }
};

struct Answer {
  int status = 0;
  std::string head, body;
};

class Viewer {
 public:
  /// On a port that is free.
  explicit Viewer(const std::string& scene)
      : process_({places::program(), "splat", "view", scene, "--port", "0", "--json"}, {{1, out_.write}}) {
    out_.close_write();
    std::string text;
    char piece[512];
    for (;;) {
      const ssize_t n = ::read(out_.read, piece, sizeof piece);
      if (n <= 0) break;
      text.append(piece, static_cast<std::size_t>(n));
      started_ = nlohmann::json::parse(text, nullptr, false);
      if (started_.is_object()) break;
    }
    if (!started_.is_object()) return;
    url_ = started_.value("url", "");
    port_ = std::stoi(url_.substr(url_.rfind(':') + 1));
  }

  const nlohmann::json& started() const { return started_; }
  const std::string& url() const { return url_; }
  int port() const { return port_; }
  int end(int signal) { return process_.end(signal); }
  pid_t process() const { return process_.id(); }

  /// A socket; -1 where it cannot be had.
  int connect() const {
    const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(s, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return s;
    ::close(s);
    return -1;
  }

  /// The path goes out as it is; "" for Host sends none; more headers end with CRLF.
  Answer get(const std::string& path, const std::string& host = "127.0.0.1:1", const std::string& method = "GET",
             const std::string& headers = "") const {
    Answer a;
    if (const int s = connect(); s >= 0) {
      const std::string request = method + " " + path + " HTTP/1.1\r\n" +
                                  (host.empty() ? "" : "Host: " + host + "\r\n") + headers +
                                  "Content-Length: 0\r\nConnection: close\r\n\r\n";
      (void)!::send(s, request.data(), request.size(), MSG_NOSIGNAL);
      std::string text;
      char piece[4096];
      for (ssize_t n = 0; (n = ::recv(s, piece, sizeof piece, 0)) > 0;) text.append(piece, static_cast<std::size_t>(n));
      const std::size_t split = text.find("\r\n\r\n");
      if (split != std::string::npos && text.size() > 12) {
        a.status = std::stoi(text.substr(9, 3));
        a.head = text.substr(0, split);
        a.body = text.substr(split + 4);
      }
      ::close(s);
    }
    return a;
  }
  nlohmann::json state() const { return nlohmann::json::parse(get("/status").body, nullptr, false); }

 private:
  Pipe out_;
  Process process_;
  nlohmann::json started_;
  std::string url_;
  int port_ = 0;
};

}  // namespace rlx::cli::testing
