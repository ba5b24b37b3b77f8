// A container engine that answers as a test says, and a machine whose client
// talks to it.
#pragma once

#include "gateway/programs/engine_names.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/file.h"
#include "gateway/gateway.h"
#include "gateway/programs/engine_socket.h"
#include "tests/support/machine.h"
#include "tests/support/temporary_directory.h"

namespace gate::app {

using rules::Action;
using test::Machine;

// Long enough that only an engine that never answers meets it.
inline constexpr uint64_t kPatient = 60'000;

inline std::string Http(const std::string& status, const std::string& body,
                        const std::string& more = "") {
  return "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\n" +
         more + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

inline std::string Chunked(const std::string& chunks,
                           const std::string& more = "") {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + more +
         "Transfer-Encoding: chunked\r\n\r\n" + chunks;
}

inline std::string Volume(const std::string& name,
                          const std::string& options = "null",
                          const std::string& driver = "\"local\"") {
  return R"({"Name":")" + name + R"(","Driver":)" + driver +
         R"(,"Scope":"local","Options":)" + options + "}";
}

inline std::string Network(const std::string& name, const std::string& driver,
                           const std::string& options) {
  return R"({"Name":")" + name + R"(","Id":"0123abcd","Driver":")" + driver +
         R"(","Options":)" + options + "}";
}

// An engine that answers by the path asked for; without an answer it stays
// silent until the other side gives up.
class Engine {
 public:
  explicit Engine(const std::string& path)
      : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    EXPECT_LT(path.size(), sizeof address.sun_path);
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address),
                     sizeof address),
              0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    thread_ = std::thread([this] { Serve(); });
  }
  ~Engine() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  Engine(const Engine&) = delete;  // owns a thread

  // The engine may still be sending when the other side has had enough of an
  // answer: what it sends is its own copy.
  void Answer(const std::string& path, const std::string& text) {
    const std::scoped_lock lock(mutex_);
    answers_[path] = text;
  }
  void AnswerOnly(std::map<std::string, std::string> answers) {
    const std::scoped_lock lock(mutex_);
    answers_ = std::move(answers);
  }
  std::atomic<int> asked = 0;

 private:
  std::optional<std::string> AnswerOf(const std::string& path) {
    const std::scoped_lock lock(mutex_);
    const auto answer = answers_.find(path);
    if (answer == answers_.end()) return std::nullopt;
    return answer->second;
  }

  void Serve() {
    while (true) {
      const Fd one(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!one) return;
      ++asked;
      std::string request;
      char buffer[4096];
      ssize_t got = 0;
      while (request.find("\r\n\r\n") == std::string::npos &&
             (got = ::recv(one.get(), buffer, sizeof buffer, 0)) > 0)
        request.append(buffer, static_cast<size_t>(got));
      const size_t start = request.find(' ') + 1;
      const std::optional<std::string> answer =
          AnswerOf(request.substr(start, request.find(' ', start) - start));
      if (!answer) {
        while (::recv(one.get(), buffer, sizeof buffer, 0) > 0) {
        }
        continue;
      }
      for (std::string_view rest = *answer; !rest.empty();) {
        const ssize_t sent =
            ::send(one.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
        if (sent <= 0) break;
        rest.remove_prefix(static_cast<size_t>(sent));
      }
    }
  }

  std::mutex mutex_;
  std::map<std::string, std::string> answers_;
  Fd listener_;
  std::thread thread_;
};

class EngineNamesTest : public testing::Test {
 protected:
  EngineNamesTest() {
    machine_.Write(machine_.root() + "/bin/docker",
                   "\x7f"
                   "ELF",
                   0755);
    machine_.Write(machine_.root() + "/e/x", "");
    engine_.emplace(Socket());
  }

  std::string Socket() const { return machine_.root() + "/e/s"; }

  ProcessFacts Facts(std::vector<std::string> environment) const {
    GlobalOptions options;
    options.config_dir = machine_.home() + "/.config/gate";
    options.state_dir = machine_.state();
    ProcessFacts facts = ReadProcessFacts(options);
    facts.home = machine_.home();
    facts.path = machine_.root() + "/bin";
    facts.cwd = work_.path();
    environment.push_back("HOME=" + facts.home);
    facts.environment = std::move(environment);
    return facts;
  }

  engine::Decision Decide(const std::string& line,
                          std::vector<std::string> environment,
                          uint64_t patience = kPatient, bool here = true) {
    Gateway gateway(Facts(std::move(environment)));
    gateway.WaitForEngines(patience);
    Request question;
    question.command = line;
    question.cwd = work_.path();
    question.on_this_machine = here;
    return gateway.Authorize(question, /*pin=*/false).decision;
  }
  engine::Decision Decide(const std::string& line) {
    return Decide(line, {"DOCKER_HOST=unix://" + Socket()});
  }

  Machine machine_;
  // The base of a machine is in a place of the system, where a line would be
  // asked because of a directory called as the volume.
  TemporaryDirectory work_;
  std::optional<Engine> engine_;
};

}  // namespace gate::app
