// Options and words of programs that carry secrets. Internal to audit/.
#pragma once

#include <string_view>

namespace gate::audit {

// Short options that carry a password, by program.
enum class Form : unsigned char {
  kAttached,
  kSeparate,
  kUserPassword,
  kCookies,  // name=value; a file without the sign
};
struct ProgramOption {
  std::string_view program;
  std::string_view option;
  Form form;
};
inline constexpr ProgramOption kProgramOptions[] = {
    {"mysql", "-p", Form::kAttached},
    {"mysqldump", "-p", Form::kAttached},
    {"mysqladmin", "-p", Form::kAttached},
    {"mysqlimport", "-p", Form::kAttached},
    {"mariadb", "-p", Form::kAttached},
    {"mariadb-dump", "-p", Form::kAttached},
    {"sshpass", "-p", Form::kAttached},
    {"sshpass", "-p", Form::kSeparate},
    {"curl", "-u", Form::kUserPassword},
    {"curl", "--user", Form::kUserPassword},
    {"curl", "-U", Form::kUserPassword},
    {"curl", "--proxy-user", Form::kUserPassword},
    {"http", "-a", Form::kUserPassword},
    {"https", "-a", Form::kUserPassword},
    {"http", "--auth", Form::kUserPassword},
    {"lftp", "-u", Form::kUserPassword},
    {"smbclient", "-U", Form::kUserPassword},
    {"redis-cli", "-a", Form::kSeparate},
    {"docker", "-p", Form::kSeparate},
    {"podman", "-p", Form::kSeparate},
    {"buildah", "-p", Form::kSeparate},
    {"skopeo", "-p", Form::kSeparate},
    {"helm", "-p", Form::kSeparate},
    {"oc", "-p", Form::kSeparate},
    {"az", "-p", Form::kSeparate},
    {"twine", "-p", Form::kSeparate},
    {"mongo", "-p", Form::kSeparate},
    {"mongosh", "-p", Form::kSeparate},
    {"mongodump", "-p", Form::kSeparate},
    {"mongorestore", "-p", Form::kSeparate},
    {"mongo", "-p", Form::kAttached},
    {"mongosh", "-p", Form::kAttached},
    {"mongodump", "-p", Form::kAttached},
    {"mongorestore", "-p", Form::kAttached},
    {"redis-cli", "-a", Form::kAttached},
    {"nerdctl", "-p", Form::kSeparate},
    {"keytool", "-storepass", Form::kSeparate},
    {"keytool", "-keypass", Form::kSeparate},
    {"keytool", "-srcstorepass", Form::kSeparate},
    {"keytool", "-deststorepass", Form::kSeparate},
    {"jarsigner", "-storepass", Form::kSeparate},
    {"jarsigner", "-keypass", Form::kSeparate},
    {"curl", "-b", Form::kCookies},
    {"ldapsearch", "-w", Form::kSeparate},
    {"ldapmodify", "-w", Form::kSeparate},
    {"sqlcmd", "-P", Form::kSeparate},
    {"zip", "-P", Form::kSeparate},
    {"unzip", "-P", Form::kSeparate},
    {"7z", "-p", Form::kAttached},
    {"openssl", "-passin", Form::kSeparate},
    {"openssl", "-passout", Form::kSeparate},
    {"openssl", "-pass", Form::kSeparate},
    {"openssl", "-k", Form::kSeparate},
};
inline constexpr std::string_view kWrappers[] = {
    "sudo", "doas", "env",  "time",  "exec", "command",
    "then", "do",   "else", "nohup", "if",   "while"};
// Programs that read their arguments as the shell's lines, or hand them to one.
inline constexpr std::string_view kCodePrograms[] = {
    "eval",  "bash",  "sh",       "dash", "zsh",    "ksh",    "ssh",  "su",
    "xargs", "watch", "parallel", "trap", "script", "screen", "tmux", "flock"};
// Options whose value is a variable's name and value, and who has them.
inline constexpr std::string_view kVariableOptions[] = {"-e", "--env",
                                                        "--build-arg"};
inline constexpr std::string_view kContainerPrograms[] = {"docker", "podman",
                                                          "nerdctl"};
// Words that say that a secret comes on standard input.
inline constexpr std::string_view kStdinMarks[] = {
    "--password-stdin", "--with-token", "--passphrase-fd", "--stdin"};

}  // namespace gate::audit
