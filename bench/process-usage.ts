import { readdirSync, readFileSync } from "node:fs";

/** Ticks a second in which the kernel tells CPU times to programs, on every machine that Node.js runs on. */
const ticksPerSecond = 100;

interface ProcessStat {
  pid: number;
  parent: number;
  /** CPU seconds of all its threads. */
  ownCpuSeconds: number;
  /** CPU seconds of its children that have ended. */
  endedChildrenCpuSeconds: number;
}

/** Reads a line of /proc/<pid>/stat. The name in it may hold spaces and brackets. */
export function parseProcStat(line: string): ProcessStat {
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  // The state is the third field of the line and the first here.
  const at = (field: number) => Number(fields[field - 3]);
  return {
    pid: Number.parseInt(line, 10),
    parent: at(4),
    ownCpuSeconds: (at(14) + at(15)) / ticksPerSecond,
    endedChildrenCpuSeconds: (at(16) + at(17)) / ticksPerSecond,
  };
}

/** CPU seconds that a process has used since it began, in all its threads, as a user and in the kernel. */
export function readProcessCpuSeconds(pid: number): number {
  return parseProcStat(readFileSync(`/proc/${pid}/stat`, "utf8")).ownCpuSeconds;
}

/** CPU seconds of a process, its children and theirs, also of those that have ended. */
export function readProcessTreeCpuSeconds(root: number): number {
  return readProcessTree(root).reduce(
    (sum, { ownCpuSeconds, endedChildrenCpuSeconds }) => sum + ownCpuSeconds + endedChildrenCpuSeconds,
    0,
  );
}

/**
 * CPU seconds of a process, its children and theirs, to the nanosecond: in hundredths, as above, what an easy load takes
 * in a few seconds is known to a tenth only. What has ended is left out: for processes whose threads go on.
 */
export function readPreciseTreeCpuSeconds(root: number): number {
  const threads = readProcessTree(root).flatMap(({ pid }) =>
    readdirSync(`/proc/${pid}/task`).map((id) => `${pid}/task/${id}`),
  );
  // What a thread has run, what it has waited for a core, both in nanoseconds, and how often it ran.
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

/** Resident memory of a process in megabytes (2^20 bytes): now, and the most that it ever was. */
export function readProcessMemoryMegabytes(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const megabytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
  return { now: megabytes("VmRSS"), peak: megabytes("VmHWM") };
}
