import type { ApiSchemaTypes } from "@pragma/client";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useApi } from "../api/use-api.ts";
import { addDays } from "../format/formats.ts";
import { useFormats, useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { ChoiceField, DayRangeField, Filters } from "../ui/fields.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Page } from "../ui/page.tsx";
import { Section } from "../ui/section.tsx";
import { MetricsResult } from "./metrics-result.tsx";
import type { DimensionName } from "./name-dimension-value.ts";

const route = getRouteApi("/metrics");
const defaultDayCount = 28;
const maxRows = 200;
/** The maximum of the API: two dimensions have a row for each pair of their values. */
const maxPairs = 1_000;
/** The dimensions whose values have a sequence of their own. Rows of all others are sorted by the measure. */
const sequences: readonly string[] = ["day", "week", "month", "weekday", "hour", "taxRate"] satisfies DimensionName[];

type MetricsMeta = ApiSchemaTypes["MetricsMeta"];

/** A question about the figures of reports: a measure by one or two dimensions, in a period, against an earlier one. */
export function MetricsPage() {
  const meta = useApi(["metrics", "meta"], (api) => api.GET("/v1/metrics/meta", {}));
  const { measure = "sales", by = "day", thenBy } = route.useSearch();
  // Requested together with the list of measures, which contains what the addresses of this view ask for.
  useAnswer(measure, thenBy ? [by, thenBy] : [by], { isEnabled: meta.isPending });
  return (
    <Page title={text.metrics.title} summary={text.metrics.summary}>
      <Loaded query={meta}>{(loaded) => <Question meta={loaded} />}</Loaded>
    </Page>
  );
}

/** Requests a measure by dimensions, in the period of the address. */
function useAnswer(measure: string, dimensions: readonly string[], { isEnabled = true } = {}) {
  const { isoDay } = useFormats();
  const today = isoDay(new Date());
  const { since = addDays(today, -defaultDayCount), until = addDays(today, -1), compare } = route.useSearch();
  const parameters = {
    measures: measure,
    dimensions: dimensions.join(","),
    sort: sortOf(measure, dimensions),
    ...{ since, until, limit: dimensions.length > 1 ? maxPairs : maxRows },
    ...(compare && { compare }),
  };
  const query = useApi(
    ["metrics", parameters],
    (client) => client.GET("/v1/metrics", { params: { query: parameters } }),
    { isEnabled },
  );
  return { query, parameters };
}

type AskedNames = Partial<Record<"measure" | "by" | "thenBy", string | undefined>>;

/** Returns the measure and dimensions of an address as far as they can be combined, and what else can be chosen. */
function resolveQuestion(meta: MetricsMeta, asked: AskedNames) {
  const measure = meta.measures.find(({ name }) => name === asked.measure) ?? meta.measures[0];
  const choices = (measure?.dimensions ?? []).filter(isOfOneLocation);
  const dimension = choices.find((name) => name === asked.by) ?? choices[0] ?? "day";
  const combinable = meta.dimensions.find(({ name }) => name === dimension)?.dimensions ?? [];
  const secondChoices = choices.filter((name) => combinable.includes(name));
  const second = secondChoices.find((name) => name === asked.thenBy);
  return { measure, choices, dimension, secondChoices, second };
}

function Question({ meta }: { meta: MetricsMeta }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { api } = useSession();
  const { measure, choices, dimension, secondChoices, second } = resolveQuestion(meta, search);
  const dimensions: DimensionName[] = second ? [dimension, second] : [dimension];
  const isByProducts = meta.dimensions.some(({ name, group }) => group === "product" && dimensions.includes(name));
  const setQuestion = (changes: Partial<typeof search>) =>
    void navigate({
      search: (current) => {
        const next = { ...current, ...changes };
        const resolved = resolveQuestion(meta, next);
        // Another measure can have other dimensions, and an address must not ask for what cannot be combined.
        return { ...next, by: next.by && resolved.dimension, thenBy: resolved.second };
      },
    });
  const { query, parameters } = useAnswer(measure?.name ?? "sales", dimensions);
  const { since, until, compare } = parameters;
  const namesOf = <Name extends string>(names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, text.metrics.nameOf(name)])) as Record<Name, string>;
  const [csvError, setCsvError] = useState<unknown>(null);
  async function download() {
    setCsvError(null);
    try {
      const { data } = await api.GET("/v1/metrics", {
        params: { query: parameters },
        headers: { accept: "text/csv" },
        parseAs: "blob",
      });
      saveFile(data, `${parameters.measures}-by-${dimensions.join("-")}-${since}-${until}.csv`);
    } catch (error) {
      setCsvError(error);
    }
  }
  return (
    <>
      <Filters>
        <ChoiceField
          label={text.metrics.measure}
          choices={namesOf(meta.measures.map(({ name }) => name))}
          value={measure?.name}
          onChange={(name) => setQuestion({ measure: name })}
        />
        <ChoiceField
          label={text.metrics.by}
          choices={namesOf(choices)}
          value={dimension}
          onChange={(name) => setQuestion({ by: name })}
        />
        <ChoiceField
          label={text.metrics.thenBy}
          choices={namesOf(secondChoices)}
          value={second}
          onChange={(name) => setQuestion({ thenBy: name })}
          anyLabel={text.metrics.noThenBy}
        />
        <DayRangeField since={since} until={until} onChange={setQuestion} />
        <ChoiceField
          label={text.metrics.compare}
          choices={text.metrics.comparisons}
          value={compare}
          onChange={(name) => setQuestion({ compare: name })}
          anyLabel={text.metrics.noComparison}
        />
      </Filters>
      {measure && <p className="measure-description">{text.metrics.describe(measure.description, isByProducts)}</p>}
      {csvError !== null && <ErrorNotice error={csvError} />}
      <Section
        title={text.metrics.answer(
          text.metrics.nameOf(parameters.measures),
          dimensions.map((name) => text.metrics.nameOf(name)),
        )}
        actions={
          <>
            <Button variant="quiet" onPress={() => void download()}>
              {text.metrics.csv}
            </Button>
            <CopyRequest url={query.data?.url} />
          </>
        }
      >
        <Loaded query={query}>
          {(metrics) => (
            <MetricsResult
              metrics={metrics}
              measure={metrics.measures[0] ?? "sales"}
              isAmount={measure?.unit === "amount"}
            />
          )}
        </Loaded>
      </Section>
    </>
  );
}

/** Returns whether a dimension tells rows apart if all are of the same location, as those of this view are. */
const isOfOneLocation = (name: DimensionName) => name !== "location";

/** Returns the sequence of rows: that of the values if they have one, and otherwise the highest figures first. */
function sortOf(measure: string, dimensions: readonly string[]): string {
  const last = dimensions.at(-1) ?? "day";
  const byLast = sequences.includes(last) ? last : `-${measure}`;
  // Rows with the same first value stay together, as a group.
  return [...dimensions.slice(0, -1), byLast].join(",");
}

/** Saves data as a file, as if the reader had downloaded it. */
function saveFile(data: Blob, name: string): void {
  const url = URL.createObjectURL(data);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
