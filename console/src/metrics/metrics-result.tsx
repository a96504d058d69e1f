import type { ApiSchemaTypes } from "@pragma/client";
import { useMemo } from "react";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { LazyChart } from "../ui/lazy-chart.tsx";
import { Table } from "../ui/table.tsx";

type Metrics = ApiSchemaTypes["Metrics"];
type MeasureName = Metrics["measures"][number];
type DimensionName = Metrics["dimensions"][number];

interface MetricsResultProps {
  metrics: Metrics;
  measure: MeasureName;
  dimension: DimensionName;
  isAmount: boolean;
}

/** More bars cannot be told apart. The table lists all. */
const maxBars = 31;

/** The answer as a chart and as a table with the same figures. */
export function MetricsResult({ metrics, measure, dimension, isAmount }: MetricsResultProps) {
  const { money, roundedMoney, number, change, day } = useFormats();
  const format = isAmount ? money : number;
  const hasComparison = metrics.compareSince !== null;
  const rows = useMemo(
    () =>
      metrics.data.map(({ dimensions, values, comparison }) => ({
        name: nameValue(dimensions[dimension], dimension === "day" ? day : String),
        value: values[measure] ?? null,
        before: comparison?.values[measure] ?? null,
        percent: comparison?.percents[measure] ?? null,
      })),
    [metrics, measure, dimension, day],
  );
  const chart = useMemo(() => {
    const shown = rows.slice(0, maxBars);
    return {
      names: shown.map(({ name }) => name),
      series: [
        { label: text.metrics.thisPeriod, values: shown.map(({ value }) => value), color: "--accent", isBars: true },
        ...(hasComparison
          ? [
              {
                label: text.metrics.earlierPeriod,
                values: shown.map(({ before }) => before),
                color: "--muted",
                isDashed: true,
              },
            ]
          : []),
      ],
    };
  }, [rows, hasComparison]);
  const [total] = metrics.totals;
  const totalValue = total?.values[measure] ?? null;
  if (rows.length === 0) return <p className="empty">{text.metrics.empty}</p>;
  return (
    <>
      {totalValue !== null && (
        <dl className="figures">
          <div>
            <dt>{text.metrics.total}</dt>
            <dd className="figure">{format(totalValue)}</dd>
          </div>
        </dl>
      )}
      <LazyChart
        {...chart}
        summary={text.metrics.chart(text.metrics.nameOf(measure), totalValue === null ? "–" : format(totalValue))}
        formatValue={isAmount ? roundedMoney : number}
      />
      <Table
        label={text.metrics.title}
        rows={rows}
        getKey={({ name }) => name}
        empty={text.metrics.empty}
        columns={[
          { header: text.metrics.nameOf(dimension), isRowHeader: true, cell: ({ name }) => name },
          {
            header: text.metrics.nameOf(measure),
            isNumeric: true,
            cell: ({ value }) => (value === null ? "–" : format(value)),
          },
          ...(hasComparison
            ? [
                {
                  header: text.metrics.earlierPeriod,
                  isNumeric: true,
                  cell: ({ before }: (typeof rows)[number]) => (before === null ? "–" : format(before)),
                },
                {
                  header: text.metrics.change,
                  isNumeric: true,
                  cell: ({ percent }: (typeof rows)[number]) => (percent === null ? "–" : change(percent)),
                },
              ]
            : []),
        ]}
      />
      {metrics.omittedRowCount > 0 && <p className="muted">{text.metrics.omitted(metrics.omittedRowCount)}</p>}
    </>
  );
}

/** Returns the value of a dimension as text. A value with an ID, such as a product, is shown by its name. */
function nameValue(value: unknown, format: (value: string) => string): string {
  if (value === null || value === undefined) return text.metrics.none;
  if (typeof value !== "object") return format(String(value));
  const parts = Object.entries(value).filter(([field, part]) => part !== null && field !== "id" && field !== "type");
  const name = parts.map(([, part]) => String(part)).join(", ");
  return name || ("id" in value && value.id ? String(value.id) : text.metrics.none);
}
