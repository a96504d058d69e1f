import type { ApiSchemaTypes } from "@pragma/client";
import { useMemo } from "react";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { LazyChart } from "../ui/lazy-chart.tsx";
import { Table } from "../ui/table.tsx";
import { nameDimensionValue } from "./name-dimension-value.ts";

type Metrics = ApiSchemaTypes["Metrics"];
type MeasureName = Metrics["measures"][number];

interface MetricsResultProps {
  metrics: Metrics;
  measure: MeasureName;
  isAmount: boolean;
}

/** More bars cannot be told apart. The table lists all. */
const maxBars = 31;

/**
 * The answer as a table and, by one dimension, as a chart with the same figures. Rows by two dimensions are grouped by the
 * first, whose value is shown once for each group.
 */
export function MetricsResult({ metrics, measure, isAmount }: MetricsResultProps) {
  const formats = useFormats();
  const { money, roundedMoney, number, change, dayRange } = formats;
  const format = isAmount ? money : number;
  const { since, until, compareSince, compareUntil } = metrics;
  const hasComparison = compareSince !== null && compareUntil !== null;
  const { thisPeriod, periodWithDays } = text.metrics;
  const earlierPeriod = hasComparison
    ? periodWithDays(text.metrics.earlierPeriod, dayRange(compareSince, compareUntil))
    : "";
  const currentPeriod = hasComparison ? periodWithDays(thisPeriod, dayRange(since, until)) : thisPeriod;
  const [dimension = "day", second] = metrics.dimensions;
  const rows = useMemo(
    () =>
      metrics.data.map(({ currency, dimensions, values, comparison }, index, all) => ({
        key: JSON.stringify([currency, dimensions]),
        name: nameDimensionValue(dimension, dimensions, formats),
        isNewGroup: !second || !isSame(dimensions[dimension], all[index - 1]?.dimensions[dimension]),
        secondName: second ? nameDimensionValue(second, dimensions, formats) : "",
        value: values[measure] ?? null,
        before: comparison?.values[measure] ?? null,
        percent: comparison?.percents[measure] ?? null,
      })),
    [metrics, measure, dimension, second, formats],
  );
  const chart = useMemo(() => {
    const shown = rows.slice(0, maxBars);
    return {
      names: shown.map(({ name }) => name),
      series: [
        { label: currentPeriod, values: shown.map(({ value }) => value), color: "--accent", isBars: true },
        ...(hasComparison
          ? [
              {
                label: earlierPeriod,
                values: shown.map(({ before }) => before),
                color: "--muted",
                isDashed: true,
              },
            ]
          : []),
      ],
    };
  }, [rows, hasComparison, currentPeriod, earlierPeriod]);
  const [total] = metrics.totals;
  const totalValue = total?.values[measure] ?? null;
  const totalBefore = total?.comparison?.values[measure];
  const unattributed =
    measure === "sales" || measure === "salesWithoutTax" ? total?.unattributed?.[measure] : undefined;
  if (rows.length === 0) return <p className="empty">{text.metrics.empty}</p>;
  return (
    <>
      {totalValue !== null && (
        <dl className="figures">
          <div>
            <dt>{text.metrics.total}</dt>
            <dd className="figure">{format(totalValue)}</dd>
          </div>
          {hasComparison && (
            <div>
              <dt>{earlierPeriod}</dt>
              <dd className="figure">{typeof totalBefore === "number" ? format(totalBefore) : "–"}</dd>
            </div>
          )}
          {unattributed !== undefined && (
            <div>
              <dt>{text.metrics.unattributed}</dt>
              <dd className="figure">{format(unattributed)}</dd>
            </div>
          )}
        </dl>
      )}
      {!second && (
        <LazyChart
          {...chart}
          summary={text.metrics.chart(text.metrics.nameOf(measure), totalValue === null ? "–" : format(totalValue))}
          formatValue={isAmount ? roundedMoney : number}
        />
      )}
      <Table
        label={text.metrics.title}
        rows={rows}
        getKey={({ key }) => key}
        empty={text.metrics.empty}
        columns={[
          {
            header: text.metrics.nameOf(dimension),
            isRowHeader: true,
            cell: ({ name, isNewGroup }) => (isNewGroup ? name : <span className="visually-hidden">{name}</span>),
          },
          ...(second
            ? [{ header: text.metrics.nameOf(second), cell: ({ secondName }: (typeof rows)[number]) => secondName }]
            : []),
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

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
