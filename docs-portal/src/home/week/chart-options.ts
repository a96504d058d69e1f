import type uPlot from "uplot";
import { formatCurrencyAmount } from "../../money/format-amount.ts";
import type { WeekChart } from "./figures.ts";

/** The free space between two labels of columns, in pixels. */
const minLabelGap = 6;
const labelFontSize = 12;
const maxNameWidth = 150;
const maxColumnWidth = 40;
const maxBarWidth = 22;
const lineHeight = 14;

/**
 * Returns the options and the data with which uPlot draws a chart. Colors and fonts are read from the styles of
 * `element` each time the chart is drawn, because they depend on the color mode.
 */
export function createChartOptions(
  { shape, series, labels, currency }: WeekChart,
  { Plot, element, width, height, onPoint }: ChartFrame,
): { options: uPlot.Options; data: uPlot.AlignedData } {
  const color = (name: string) => getComputedStyle(element).getPropertyValue(name).trim();
  const font = `${labelFontSize}px ${getComputedStyle(element).fontFamily}`;
  const isColumns = shape === "columns";
  const positions = labels.map((_, index) => index);
  const max = Math.max(1, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const min = Math.min(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const measure = createTextMeasure(font);
  const widestName = Math.max(0, ...labels.map(measure)) + 12;
  const nameWidth = isColumns ? 0 : Math.min(maxNameWidth, width * 0.42, widestName);
  const axis = { font, stroke: () => color("--pragma-muted"), ticks: { show: false } };
  // The longest bar leaves space for its amount.
  const amountWidth = measure(formatCurrencyAmount(max, currency)) + 12;
  const barsWidth = Math.max(1, width - nameWidth);
  const amounts = (_: uPlot, splits: number[]) =>
    splits.map((amount) => formatCurrencyAmount(amount, currency, { isRounded: true }));
  const amountGrid = { stroke: () => color("--pragma-line"), width: 1 };

  const options: uPlot.Options = {
    width,
    height,
    padding: isColumns ? [10, 0, 0, 0] : [0, 0, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false, x: false, points: { show: false } },
    scales: {
      x: {
        time: false,
        range: [-0.5, labels.length - 0.5],
        ...(!isColumns && { ori: 1 as const, dir: -1 as const }),
      },
      y: {
        range: [min, isColumns ? max * 1.05 : max / (1 - Math.min(0.7, amountWidth / barsWidth))],
        ...(!isColumns && { ori: 0 as const, dir: 1 as const }),
      },
    },
    axes: [
      {
        ...axis,
        side: isColumns ? 2 : 3,
        grid: { show: false },
        size: isColumns
          ? (_, values) => 12 + lineHeight * (values?.some((label) => label?.includes("\n")) ? 2 : 1)
          : nameWidth,
        gap: isColumns ? 6 : 8,
        splits: () => positions,
        values: ({ width: drawn }, splits) => {
          if (!isColumns) return splits.map((index) => cutText(labels[index] ?? "", nameWidth - 12, measure));
          return fitColumnLabels(labels, drawn - 60, measure);
        },
      },
      isColumns
        ? {
            ...axis,
            side: 3,
            grid: amountGrid,
            gap: 6,
            size: (_, values) => Math.max(...(values ?? [""]).map(measure)) + 10,
            space: 44,
            values: amounts,
          }
        : { ...axis, side: 2, show: false, grid: { show: false } },
    ],
    series: [
      {},
      ...series.map(({ isEarlier }, index) => ({
        width: 0,
        fill: () => color(isEarlier ? "--chart-earlier" : "--ifm-color-primary"),
        points: { show: false },
        paths: Plot.paths.bars?.({
          size: isColumns ? [series.length === 1 ? 0.75 : 0.4, maxColumnWidth] : [0.65, maxBarWidth],
          // Two series stand side by side: one before and one after the middle of the column.
          align: series.length === 1 ? 0 : index === 0 ? -1 : 1,
          radius: 0.15,
        }) as uPlot.Series.PathBuilder,
      })),
    ],
    hooks: {
      setCursor: [
        ({ cursor: { idx, left = 0, top = 0 }, over }) =>
          onPoint(
            typeof idx === "number" && left >= 0
              ? { index: idx, left: left + over.offsetLeft, top: top + over.offsetTop }
              : undefined,
          ),
      ],
      draw: isColumns
        ? []
        : [
            (drawn) => {
              const { ctx } = drawn;
              const ratio = Plot.pxRatio;
              ctx.save();
              ctx.font = `${labelFontSize * ratio}px ${getComputedStyle(element).fontFamily}`;
              ctx.fillStyle = color("--pragma-text");
              ctx.textAlign = "left";
              ctx.textBaseline = "middle";
              for (const [index, value] of (series[0]?.values ?? []).entries())
                ctx.fillText(
                  formatCurrencyAmount(value ?? 0, currency),
                  drawn.valToPos(Math.max(value ?? 0, 0), "y", true) + 6 * ratio,
                  drawn.valToPos(index, "x", true),
                );
              ctx.restore();
            },
          ],
    },
  };
  return { options, data: [positions, ...series.map(({ values }) => values)] as uPlot.AlignedData };
}

interface ChartFrame {
  element: HTMLElement;
  width: number;
  height: number;
  /** uPlot, which is loaded only when a chart is needed. */
  Plot: typeof uPlot;
  /** Is called when the pointer moves to another value; with undefined when it leaves the chart. */
  onPoint(point: ChartPoint | undefined): void;
}

/** The value below the pointer, and the position of the pointer in the chart in pixels. */
export interface ChartPoint {
  index: number;
  left: number;
  top: number;
}

/** Returns a function that returns the width of a text in pixels. */
function createTextMeasure(font: string): (text: string) => number {
  const context = document.createElement("canvas").getContext("2d");
  if (context) context.font = font;
  return (text) => context?.measureText(text).width ?? text.length * 7;
}

/**
 * Returns the labels below columns so that they fit the width together: in one line, otherwise in one line for each word,
 * otherwise only each second or third of them.
 */
function fitColumnLabels(labels: string[], width: number, measure: (text: string) => number): string[] {
  const widestOf = (texts: string[]) => Math.max(0, ...texts.map(measure)) + minLabelGap;
  if (widestOf(labels) * labels.length <= width) return labels;
  const broken = labels.map((label) => label.replace(" ", "\n"));
  const widest = widestOf(broken.flatMap((label) => label.split("\n")));
  const step = Math.max(1, Math.ceil((widest * labels.length) / Math.max(1, width)));
  return broken.map((label, index) => (index % step === 0 ? label : ""));
}

/** Returns the text, or its beginning and an ellipsis if it is wider than `maxWidth`. */
function cutText(text: string, maxWidth: number, measure: (text: string) => number): string {
  if (measure(text) <= maxWidth) return text;
  let length = text.length;
  while (length > 1 && measure(`${text.slice(0, length)}…`) > maxWidth) length -= 1;
  return `${text.slice(0, length).trimEnd()}…`;
}
