import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { useResolvedTheme } from "../shell/theme.ts";

export interface ChartSeries {
  label: string;
  values: (number | null)[];
  /** The custom property with the color, such as `--link`. */
  color: string;
  isDashed?: boolean;
  isBars?: boolean;
}

export interface ChartProps {
  /** What the chart shows, in a sentence that contains its main figures. Screen readers read it instead of the chart. */
  summary: string;
  /** The names of the positions on the horizontal axis. */
  names: string[];
  series: ChartSeries[];
  formatValue: (value: number) => string;
}

const height = 220;
/** The width of a character of a name, and of the space between two names, in pixels. */
const characterWidth = 7;
const nameGap = 10;

/** A chart with a position for each name. Its figures must also be in a table or in the text of the view. */
export default function Chart({ summary, names, series, formatValue }: ChartProps) {
  const container = useRef<HTMLDivElement>(null);
  const theme = useResolvedTheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colors depend on the theme.
  useEffect(() => {
    const element = container.current;
    if (!element) return;
    const colors = resolveColors(element, ["--line", "--muted", ...series.map(({ color }) => color)]);
    const colorOf = (name: string) => colors.get(name) ?? "";
    const font = `12px ${getComputedStyle(element).fontFamily}`;
    const grid = { stroke: colorOf("--line"), width: 1 };
    const bars = uPlot.paths.bars?.({ size: [0.6, 40], radius: 0.15 });
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { time: false, range: [-0.6, names.length - 0.4] },
          y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] },
        },
        axes: [
          {
            font,
            stroke: colorOf("--muted"),
            grid: { show: false },
            ticks: { show: false },
            splits: () => names.map((_, index) => index),
            // Names that would overlap are left out.
            values: (self, splits) => {
              const nameWidth = Math.max(...names.map(({ length }) => length)) * characterWidth + nameGap;
              const step = Math.ceil((names.length * nameWidth) / Math.max(1, self.width - 64));
              // The end of the chart would cut a name for which there is no space.
              const isCut = (index: number) =>
                (names.length - 0.4 - index) * ((self.width - 64) / names.length) < nameWidth / 2;
              return splits.map((index) => (index % step === 0 && !isCut(index) ? (names[index] ?? "") : ""));
            },
          },
          {
            font,
            size: 64,
            stroke: colorOf("--muted"),
            grid,
            ticks: { show: false },
            values: (_, splits) => splits.map(formatValue),
          },
        ],
        series: [
          {},
          ...series.map(({ label, color, isDashed, isBars }) => ({
            label,
            stroke: colorOf(color),
            width: isBars ? 0 : 2,
            points: { show: false },
            ...(isDashed && { dash: [4, 4] }),
            ...(isBars && bars && { fill: colorOf(color), paths: bars }),
          })),
        ],
      },
      [names.map((_, index) => index), ...series.map(({ values }) => values)],
      element,
    );
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [names, series, formatValue, theme]);
  return (
    <figure className="chart">
      <div ref={container} role="img" aria-label={summary} className="chart-canvas" />
      {series.length > 1 && (
        <figcaption className="legend">
          {series.map(({ label, color, isDashed }) => (
            <span key={label} className={`legend-item legend${color}${isDashed ? " legend-dashed" : ""}`}>
              {label}
            </span>
          ))}
        </figcaption>
      )}
    </figure>
  );
}

/**
 * Returns the colors of custom properties in the current theme. A canvas needs the colors themselves. All are read at once,
 * because the browser computes the styles again after each change of the page.
 */
function resolveColors(parent: HTMLElement, names: readonly string[]): Map<string, string> {
  const probes = [...new Set(names)].map((name) => {
    const probe = document.createElement("span");
    probe.style.color = `var(${name})`;
    return { name, probe };
  });
  parent.append(...probes.map(({ probe }) => probe));
  const colors = new Map(probes.map(({ name, probe }) => [name, getComputedStyle(probe).color]));
  for (const { probe } of probes) probe.remove();
  return colors;
}
