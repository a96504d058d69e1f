import { extractRelease, isReleaseAvailable, version10 } from "../../deploy/local/testing/released-version.js";
import type { BenchEnvironment } from "../bench-environment.ts";
import { type BenchLocation, createBenchLocation } from "../bench-location.ts";
import {
  type BenchPragmaDeployment,
  serviceAndGatewayBenchRoles,
  singleProcessBenchRoles,
} from "../bench-pragma-deployment.ts";
import { type BenchmarkDefinition, BenchmarkSkippedError } from "../benchmark.ts";
import {
  type BenchmarkMeasurementPair,
  computeBenchmarkComparison,
  type ProductToBaselineComparison,
} from "../benchmark-figure.ts";
import { computePercentile } from "../measurement-spread.ts";
import { benchBusyShiftTillJson } from "../sample-tills.ts";

/** Milliseconds to wait between two requests for the same report. */
const reportPollIntervalMs = 5;
const shapes = [
  { name: "one process", id: "all", roles: singleProcessBenchRoles },
  { name: "separate processes", id: "split", roles: serviceAndGatewayBenchRoles },
];

interface MeasuredVersion {
  product: BenchPragmaDeployment;
  benchLocation: BenchLocation;
}

export const reportDelaySinceVersion10Benchmark: BenchmarkDefinition = {
  id: "v1.0",
  title: "From the push of a till of 150 orders (1.4 MB) to its readable report, one till at a time",
  baseline:
    "version 1.0, compiled from the history of the repository, on the same servers with schemas of its own; the versions get tills alternately",
  async run(environment, reportProgress) {
    if (!(await isReleaseAvailable(version10)))
      throw new BenchmarkSkippedError("the history of the repository does not contain version 1.0.");
    reportProgress("compiling version 1.0");
    const extracted = await extractRelease(version10);
    try {
      const version10Program = await extracted.compile();
      const figures: ProductToBaselineComparison[] = [];
      for (const { name, id, roles } of shapes) {
        reportProgress(`${name}: starting both versions`);
        const versions: MeasuredVersion[] = [];
        try {
          for (const [version, program] of [
            ["current", undefined],
            ["1_0", version10Program],
          ] as const) {
            const product = await environment.startProduct(`bench_version_${version}_${id}`, roles, program);
            versions.push({ product, benchLocation: await createBenchLocation(product) });
          }
          const report = (detail: string) => reportProgress(`${name}: ${detail}`);
          figures.push(...(await compareVersions(environment, { name, versions, reportProgress: report })));
        } finally {
          for (const { product } of versions) await product.stop();
        }
      }
      const notes = [
        `Each repetition compares the medians of its tills. Reports are polled every ${reportPollIntervalMs} ms.`,
      ];
      return { figures, notes };
    } finally {
      await extracted.remove();
    }
  },
};

interface VersionComparison {
  name: string;
  /** The current version and version 1.0. */
  versions: MeasuredVersion[];
  reportProgress(detail: string): void;
}

async function compareVersions(
  environment: BenchEnvironment,
  { name, versions, reportProgress }: VersionComparison,
): Promise<ProductToBaselineComparison[]> {
  const repetitions = environment.isQuick ? 3 : 7;
  const tillsPerRepetition = environment.isQuick ? 4 : 15;
  /** Returns the median durations of both versions. */
  const pushAlternately = async () => {
    const durations = versions.map(() => ({ total: [] as number[], response: [] as number[] }));
    for (let till = 0; till < tillsPerRepetition; till += 1) {
      for (const index of till % 2 === 0 ? [0, 1] : [1, 0]) {
        const { product, benchLocation } = versions[index] as MeasuredVersion;
        const { responseTimesMs, reportDelaysMs } = await environment.loadGenerator.run("push", {
          origin: product.url,
          headers: benchLocation.headers,
          template: benchBusyShiftTillJson,
          tills: 1,
          pushers: 1,
          pollIntervalMs: reportPollIntervalMs,
        });
        const [response = Number.NaN] = responseTimesMs;
        durations[index]?.response.push(response);
        durations[index]?.total.push(response + (reportDelaysMs[0] ?? Number.NaN));
      }
    }
    const pairOf = (part: "total" | "response"): BenchmarkMeasurementPair => {
      const [ours = Number.NaN, baseline = Number.NaN] = durations.map((each) => computePercentile(each[part], 0.5));
      return { ours, baseline };
    };
    return { total: pairOf("total"), response: pairOf("response") };
  };
  reportProgress("warming up");
  await pushAlternately();
  const pairs: { total: BenchmarkMeasurementPair; response: BenchmarkMeasurementPair }[] = [];
  for (let repetition = 1; repetition <= repetitions; repetition += 1) {
    reportProgress(`${repetition} of ${repetitions}`);
    pairs.push(await pushAlternately());
  }
  return [
    computeBenchmarkComparison(
      pairs.map(({ total }) => total),
      { label: `${name}: push to readable report`, unit: "ms", goal: { max: 1.1 } },
    ),
    computeBenchmarkComparison(
      pairs.map(({ response }) => response),
      { label: `${name}: push to response`, unit: "ms" },
    ),
  ];
}
