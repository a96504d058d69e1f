import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks per second in /proc. The number is the same on every Linux system that Node.js supports. */
const ticksPerSecond = 100;

interface ProcessStat {
  pid: number;
  parent: number;
  /** CPU time of all threads of the process, in seconds. */
  ownCpuSeconds: number;
  /** CPU time of the child processes that have ended, in seconds. */
  endedChildrenCpuSeconds: number;
}

/** Parses a line of /proc/<pid>/stat. The process name in it may contain spaces and parentheses. */
export function parseProcStat(line: string): ProcessStat {
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  // `fields` begins with the third field of the line, which is the process state.
  const at = (field: number) => Number(fields[field - 3]);
  return {
    pid: Number.parseInt(line, 10),
    parent: at(4),
    ownCpuSeconds: (at(14) + at(15)) / ticksPerSecond,
    endedChildrenCpuSeconds: (at(16) + at(17)) / ticksPerSecond,
  };
}

/** Returns the CPU seconds (user and system) of all threads of a process since its start. */
export function readProcessCpuSeconds(pid: number): number {
  return parseProcStat(readFileSync(`/proc/${pid}/stat`, "utf8")).ownCpuSeconds;
}

/** Returns the CPU seconds of a process and all its descendants, including those that have ended. */
export function readProcessTreeCpuSeconds(root: number): number {
  return readProcessTree(root).reduce(
    (sum, { ownCpuSeconds, endedChildrenCpuSeconds }) => sum + ownCpuSeconds + endedChildrenCpuSeconds,
    0,
  );
}

/**
 * Returns the CPU seconds of a process and all its descendants, measured in nanoseconds, because hundredths of a second
 * (see `readProcessTreeCpuSeconds`) are too coarse for a low load of a few seconds. Threads and processes that have
 * ended are not included.
 */
export function readTreeCpuSeconds(root: number): number {
  const threads = readProcessTree(root).flatMap(({ pid }) =>
    readdirSync(`/proc/${pid}/task`).map((id) => `${pid}/task/${id}`),
  );
  // The first number in the file is the run time of the thread in nanoseconds.
  const nanoseconds = threads.map((thread) => Number.parseInt(readFileSync(`/proc/${thread}/schedstat`, "utf8"), 10));
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e9;
}

function readProcessTree(root: number): ProcessStat[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcStat(name) ?? []);
  const withChildren = (process: ProcessStat): ProcessStat[] => [
    process,
    ...all.filter(({ parent }) => parent === process.pid).flatMap(withChildren),
  ];
  return all.filter(({ pid }) => pid === root).flatMap(withChildren);
}

function readProcStat(pid: string): ProcessStat | undefined {
  try {
    return parseProcStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined;
  }
}

/** Returns the resident memory of a process in megabytes (2^20 bytes): now and at its peak. */
export function readMemoryMegabytes(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const megabytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
  return { now: megabytes("VmRSS"), peak: megabytes("VmHWM") };
}
