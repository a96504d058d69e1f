import { lazy, Suspense } from "react";
import type { ChartProps } from "./chart.tsx";
import { Progress } from "./loaded.tsx";

const Chart = lazy(() => import("./chart.tsx"));

/** A chart, whose code is loaded with the first chart that is shown. */
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
