// Internal to parser/: the builtins of bash, by subject.
#pragma once

#include "parser/eval/evaluate.h"

namespace gate::parser::builtins {

// builtins_state.cc: directory, options, positional parameters, aliases.
void Cd(Evaluator& e, Shell& shell, Call& call);
void Pushd(Evaluator& e, Shell& shell, Call& call);
void Popd(Evaluator& e, Shell& shell, Call& call);
void Dirs(Evaluator& e, Shell& shell, Call& call);
void Pwd(Evaluator& e, Shell& shell, Call& call);
void Set(Evaluator& e, Shell& shell, Call& call);
void Shift(Evaluator& e, Shell& shell, Call& call);
void Shopt(Evaluator& e, Shell& shell, Call& call);
void Alias(Evaluator& e, Shell& shell, Call& call);
void Unalias(Evaluator& e, Shell& shell, Call& call);
void Hash(Evaluator& e, Shell& shell, Call& call);
void Enable(Evaluator& e, Shell& shell, Call& call);

// builtins_declare.cc
void Declare(Evaluator& e, Shell& shell, Call& call);
// `name=(…)` after the words `before` of a declaration: bash assigns it while
// it expands the words, before the builtin runs.
void DeclareArray(Evaluator& e, Shell& shell, const Script& script,
                  const Fields& before, const Assignment& assignment,
                  Span span);

// builtins_variables.cc
void Unset(Evaluator& e, Shell& shell, Call& call);
void Read(Evaluator& e, Shell& shell, Call& call);
void Mapfile(Evaluator& e, Shell& shell, Call& call);
void Getopts(Evaluator& e, Shell& shell, Call& call);
void Let(Evaluator& e, Shell& shell, Call& call);

// builtins_text.cc
void Echo(Evaluator& e, Shell& shell, Call& call);
void Printf(Evaluator& e, Shell& shell, Call& call);
void Test(Evaluator& e, Shell& shell, Call& call);

// builtins_run.cc: what runs code or leaves.
void Eval(Evaluator& e, Shell& shell, Call& call);
void Source(Evaluator& e, Shell& shell, Call& call);
void Exec(Evaluator& e, Shell& shell, Call& call);
void Logout(Evaluator& evaluator, Shell& shell, Call& call);
void Exit(Evaluator& e, Shell& shell, Call& call);
void Return(Evaluator& e, Shell& shell, Call& call);
void Break(Evaluator& e, Shell& shell, Call& call);
void Trap(Evaluator& e, Shell& shell, Call& call);
void Command(Evaluator& e, Shell& shell, Call& call);
void BuiltinCommand(Evaluator& e, Shell& shell, Call& call);
void Compgen(Evaluator& e, Shell& shell, Call& call);
void Kill(Evaluator& e, Shell& shell, Call& call);
// Run only by a person's keys or from history: told, not followed.
void Interactive(Evaluator& e, Shell& shell, Call& call);
void History(Evaluator& e, Shell& shell, Call& call);
void True(Evaluator& e, Shell& shell, Call& call);
void False(Evaluator& e, Shell& shell, Call& call);
// jobs -x COMMAND runs it.
void Jobs(Evaluator& e, Shell& shell, Call& call);
// type -p and -P print where a program is.
void Type(Evaluator& e, Shell& shell, Call& call);
// Prints something that is not followed.
void Prints(Evaluator& e, Shell& shell, Call& call);
// Prints something that is not followed; `wait -p NAME` sets a variable.
void Wait(Evaluator& e, Shell& shell, Call& call);

// The word of options at fields[*i]: a dash and more. Nothing at the first
// operand, at a word that is not known, at the end, and at `--`, which it steps
// over. Else *i stays: the caller goes on once it has read the word.
std::optional<std::string> OptionWord(const Fields& fields, size_t* i);

// The value of one argument; an unknown part where it may be several words.
Values ArgumentValue(Evaluator& e, const Shell& shell, const Field& field);
// The arguments from `from` on, joined by blanks.
Values JoinArguments(Evaluator& e, const Shell& shell, const Fields& fields,
                     size_t from);
// What printf prints, NUL bytes included; nullopt when that is not known.
std::optional<std::string> PrintfOutput(std::vector<std::string> words);
Span SpanFrom(Evaluator& e, const Call& call, size_t from);
// What `which NAME` and its like print: a file by that name in a directory that
// is not known, or nothing at all.
Values FoundFile(std::string_view name, Span span);

}  // namespace gate::parser::builtins
