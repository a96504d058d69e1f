import { readdirSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** A CPU profile that `node --cpu-prof` has written, limited to the fields that are used here. */
export interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number } }[];
  samples: number[];
  /** Microseconds since the previous sample. */
  timeDeltas: number[];
}

interface HotFunction {
  where: string;
  /** Share of the process's busy time, 0 to 1. */
  share: number;
}

/** V8's names for samples that are not busy time, because the thread is idle or runs code outside of JavaScript. */
const idleFunctionNames = new Set(["(idle)", "(program)", "(root)"]);
const maxShownFunctions = 25;
/** Duration of the start-up at the beginning of a profile, in microseconds. Its samples are ignored. */
const startupMicroseconds = 6_000_000;

/**
 * Returns a text that lists the functions with the most self time in each profiled process. Worker threads are listed
 * separately.
 */
export function summarizeCpuProfilesInFolder(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".cpuprofile"))
    .sort()
    .map((name) => {
      const profile = JSON.parse(readFileSync(join(folder, name), "utf8")) as CpuProfile;
      const lines = computeFunctionSelfTimeShares(profile)
        .slice(0, maxShownFunctions)
        .map(({ where, share }) => `  ${(share * 100).toFixed(1).padStart(5)} %  ${where}`);
      return `${name}\n${lines.join("\n")}\n`;
    })
    .join("\n");
}

/** Returns each function's share of the busy time after the start-up, the largest share first. */
export function computeFunctionSelfTimeShares({ nodes, samples, timeDeltas }: CpuProfile): HotFunction[] {
  const functionsByNodeId = new Map(nodes.map(({ id, callFrame }) => [id, describeCallFrame(callFrame)]));
  const times = new Map<string, number>();
  let busyTime = 0;
  let elapsed = 0;
  for (const [index, sample] of samples.entries()) {
    const where = functionsByNodeId.get(sample) ?? "unknown";
    const time = timeDeltas[index] ?? 0;
    elapsed += time;
    if (elapsed < startupMicroseconds || idleFunctionNames.has(where)) continue;
    busyTime += time;
    times.set(where, (times.get(where) ?? 0) + time);
  }
  return [...times].map(([where, time]) => ({ where, share: time / busyTime })).sort((a, b) => b.share - a.share);
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
  const sourcePosition =
    origin && "originalSource" in origin
      ? `${fileURLToPath(new URL(origin.originalSource, url))}:${origin.originalLine + 1}`
      : `${file}:${lineNumber + 1}`;
  return `${name}  ${relative(process.cwd(), sourcePosition)}`;
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
