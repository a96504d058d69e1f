import { readdirSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** What `node --cpu-prof` writes, as far as it is read here. */
export interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number } }[];
  samples: number[];
  /** Microseconds since the sample before. */
  timeDeltas: number[];
}

interface HotFunction {
  where: string;
  /** Of the time that the process was busy, 0 to 1. */
  share: number;
}

/** Functions that a profile shows while nothing runs. */
const idleFunctionNames = new Set(["(idle)", "(program)", "(root)"]);
const maxShownFunctions = 25;
/** Microseconds from a process's beginning that are its start-up, and no part of its work. */
const startupMicroseconds = 6_000_000;

/** The functions in which each profiled process spent most of its time, by their own time; worker threads apart. */
export function formatHottestFunctions(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".cpuprofile"))
    .sort()
    .map((name) => {
      const profile = JSON.parse(readFileSync(join(folder, name), "utf8")) as CpuProfile;
      const lines = computeFunctionSelfTimes(profile)
        .slice(0, maxShownFunctions)
        .map(({ where, share }) => `  ${(share * 100).toFixed(1).padStart(5)} %  ${where}`);
      return `${name}\n${lines.join("\n")}\n`;
    })
    .join("\n");
}

/** Every function's own time once the process was up, the most first. */
export function computeFunctionSelfTimes({ nodes, samples, timeDeltas }: CpuProfile): HotFunction[] {
  const places = new Map(nodes.map(({ id, callFrame }) => [id, describeCallFrame(callFrame)]));
  const times = new Map<string, number>();
  let busy = 0;
  let since = 0;
  for (const [index, sample] of samples.entries()) {
    const place = places.get(sample) ?? "unknown";
    const time = timeDeltas[index] ?? 0;
    since += time;
    if (since < startupMicroseconds || idleFunctionNames.has(place)) continue;
    busy += time;
    times.set(place, (times.get(place) ?? 0) + time);
  }
  return [...times].map(([where, time]) => ({ where, share: time / busy })).sort((a, b) => b.share - a.share);
}

function describeCallFrame({
  functionName,
  url,
  lineNumber,
  columnNumber,
}: CpuProfile["nodes"][number]["callFrame"]): string {
  const name = functionName || "(anonymous)";
  if (url === "") return name;
  if (!url.startsWith("file:")) return `${name}  ${url}:${lineNumber + 1}`;
  const file = fileURLToPath(url);
  const origin = getSourceMap(file)?.findEntry(lineNumber, columnNumber);
  const place =
    origin && "originalSource" in origin
      ? `${fileURLToPath(new URL(origin.originalSource, url))}:${origin.originalLine + 1}`
      : `${file}:${lineNumber + 1}`;
  return `${name}  ${relative(process.cwd(), place)}`;
}

const sourceMapsByFile = new Map<string, SourceMap | undefined>();

function getSourceMap(file: string): SourceMap | undefined {
  if (!sourceMapsByFile.has(file)) sourceMapsByFile.set(file, readSourceMap(`${file}.map`));
  return sourceMapsByFile.get(file);
}

function readSourceMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}
