import { type ReactNode, useEffect, useRef, useState } from "react";
import type uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatCurrencyAmount } from "../../money/format-amount.ts";
import { type ChartPoint, createChartOptions } from "./chart-options.ts";
import styles from "./demo-week.module.css";
import type { WeekChart } from "./figures.ts";
import { useUPlot } from "./use-uplot.ts";

const columnsHeight = 220;
/** The height of the legend with its margin. A chart without a legend is higher, so that it ends beside its neighbor. */
const legendHeight = 28;
const heightOfBar = 30;

/**
 * Renders a chart as an image that its summary describes. uPlot, which draws it, is loaded when `isNear` becomes true,
 * so that the page appears without waiting for it. A placeholder of the same size is shown until then. The table with the
 * same figures is not part of the chart.
 */
export function WeekChartView({ chart, isNear }: { chart: WeekChart; isNear: boolean }): ReactNode {
  const frame = useRef<HTMLDivElement>(null);
  const [point, setPoint] = useState<ChartPoint>();
  const Plot = useUPlot(isNear);
  const hasLegend = chart.series.length > 1;
  const height =
    chart.shape === "bars" ? chart.labels.length * heightOfBar : columnsHeight + (hasLegend ? 0 : legendHeight);
  useEffect(() => {
    const element = frame.current;
    if (!Plot || !element) return;
    return drawChart(element, { Plot, chart, height, onPoint: setPoint });
  }, [chart, height, Plot]);

  return (
    <>
      {hasLegend && (
        <ul className={styles.legend} aria-hidden="true">
          {chart.series.map(({ name, isEarlier }) => (
            <li key={name} data-is-earlier={isEarlier}>
              {name}
            </li>
          ))}
        </ul>
      )}
      <div
        className={styles.chart}
        role="img"
        aria-label={`${chart.title}: ${chart.summary}`}
        aria-busy={Plot === undefined}
        style={{ height }}
      >
        <div ref={frame} className={styles.frame} data-placeholder={Plot === undefined ? chart.shape : undefined}>
          {Plot === null && "This chart did not load. Reload the page, or open the table."}
        </div>
        {point && <ChartTooltip chart={chart} point={point} />}
      </div>
    </>
  );
}

/** Renders the values below the pointer. The table contains them for those who use no pointer. */
function ChartTooltip({ chart, point: { index, left, top } }: { chart: WeekChart; point: ChartPoint }): ReactNode {
  return (
    <div
      className={styles.tooltip}
      style={{ left: `clamp(5.5rem, ${left}px, calc(100% - 5.5rem))`, top }}
      data-is-below={top < 70}
      aria-hidden="true"
    >
      <strong>{chart.labels[index]}</strong>
      {chart.series.map(({ name, values }) => (
        <span key={name}>
          {name} {formatCurrencyAmount(values[index] ?? 0, chart.currency)}
        </span>
      ))}
    </div>
  );
}

interface DrawnChart {
  Plot: typeof uPlot;
  chart: WeekChart;
  height: number;
  onPoint(point: ChartPoint | undefined): void;
}

/** Draws the chart into the element, and follows its width and the color mode until it is removed. */
function drawChart(element: HTMLElement, { Plot, chart, height, onPoint }: DrawnChart): () => void {
  const { clientWidth: width } = element;
  const { options, data } = createChartOptions(chart, { Plot, element, width, height, onPoint });
  const plot = new Plot(options, data, element);
  const resizeObserver = new ResizeObserver(() => {
    if (plot.width !== element.clientWidth) plot.setSize({ width: element.clientWidth, height });
  });
  const colorModeObserver = new MutationObserver(() => plot.redraw(false, true));
  resizeObserver.observe(element);
  colorModeObserver.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    resizeObserver.disconnect();
    colorModeObserver.disconnect();
    plot.destroy();
    onPoint(undefined);
  };
}
