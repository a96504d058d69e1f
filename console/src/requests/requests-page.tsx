import { getRouteApi } from "@tanstack/react-router";
import { hasAnyScope } from "../session/session.ts";
import { useSession } from "../session/session-context.tsx";
import { usageRanges } from "../text/choices.ts";
import { text } from "../text/text.ts";
import { ChoiceField, Filters } from "../ui/fields.tsx";
import { Page } from "../ui/page.tsx";
import { FailedRequests } from "./failed-requests.tsx";
import { RequestsByRoute } from "./requests-by-route.tsx";
import { RequestsOverTime } from "./requests-over-time.tsx";
import { usageRangeOf } from "./usage-range.ts";

const route = getRouteApi("/requests");

/** The requests of the location's keys: how many, to which routes, and which of them failed, and why. */
export function RequestsPage() {
  const { range = "day" } = route.useSearch();
  const navigate = route.useNavigate();
  const { key } = useSession();
  const usageRange = usageRangeOf(range);
  return (
    <Page
      title={text.requests.title}
      summary={
        <>
          {hasAnyScope(key, "locations:any") ? text.requests.ofAllLocations : text.requests.ofLocation}
          {range === "month" && ` ${text.requests.daysInUtc}`}
        </>
      }
    >
      <Filters>
        <ChoiceField
          label={text.requests.range}
          choices={
            Object.fromEntries(usageRanges.map((each) => [each, text.requests.ranges[each]])) as Record<
              typeof range,
              string
            >
          }
          value={range}
          onChange={(chosen) =>
            void navigate({ search: { range: chosen === "day" ? undefined : chosen, page: undefined } })
          }
        />
      </Filters>
      <RequestsOverTime range={usageRange} />
      <RequestsByRoute range={usageRange} />
      <FailedRequests />
    </Page>
  );
}
