import { useEffect, useState } from "react";
import type { ChartProps } from "./chart.tsx";
import { Progress } from "./loaded.tsx";

let Chart: typeof import("./chart.tsx").default | undefined;
// Requested with the first view that has a chart, because the figures are often there before the code of the chart.
const loading = import("./chart.tsx").then((module) => {
  Chart = module.default;
});
loading.catch(() => {});

/**
 * A chart, whose code is loaded when a view has one. Not with `lazy`, because React shows the content of a `Suspense` only
 * 300 milliseconds after its fallback, even if the code has arrived.
 */
export function LazyChart(props: ChartProps) {
  const [isLoaded, setIsLoaded] = useState(Chart !== undefined);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    if (!isLoaded) loading.then(() => setIsLoaded(true), setError);
  }, [isLoaded]);
  if (error !== null) throw error;
  if (Chart) return <Chart {...props} />;
  return (
    <div className="chart-canvas">
      <Progress />
    </div>
  );
}
