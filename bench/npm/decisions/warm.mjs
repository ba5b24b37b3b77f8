// warm.mjs MODULE CWD FILE: cc-safety-net's library call on the commands of a
// JSONL file, in a process that has already judged each of them once.
import { readFileSync } from 'node:fs';
const [module, cwd, file] = process.argv.slice(2);
const { checkCommand } = await import(module);
const commands = readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line).cmd);
const times = [];
for (let round = -1; round < 5; ++round) {
  for (const command of commands) {
    const start = process.hrtime.bigint();
    checkCommand({ command, cwd });
    if (round >= 0) times.push(Number(process.hrtime.bigint() - start) / 1000);
  }
}
times.sort((a, b) => a - b);
const mean = times.reduce((sum, us) => sum + us, 0) / times.length;
console.log(`cc-safety-net, checkCommand: mean ${mean.toFixed(0)} us, median ${times[times.length >> 1].toFixed(0)} us`);
