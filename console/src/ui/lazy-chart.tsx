import { lazy, Suspense } from "react";
import type { ChartProps } from "./chart.tsx";
import { Progress } from "./loaded.tsx";

// Requested at once, because the figures are often there before the code of the chart.
const loading = import("./chart.tsx");
loading.catch(() => {});
const Chart = lazy(() => loading);

/** A chart, whose code is loaded together with the first view that has one. */
export const LazyChart = (props: ChartProps) => (
  <Suspense
    fallback={
      <div className="chart-canvas">
        <Progress />
      </div>
    }
  >
    <Chart {...props} />
  </Suspense>
);
