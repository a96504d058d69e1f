import { Link, Navigate } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { addDays } from "../format/formats.ts";
import { hasAnyScope } from "../session/session.ts";
import { useFormats, useSession } from "../session/session-context.tsx";
import { opensOperatorView } from "../shell/navigation.ts";
import { text } from "../text/text.ts";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Page } from "../ui/page.tsx";
import { Section } from "../ui/section.tsx";
import { LastTill } from "./last-till.tsx";
import { LiveOrders } from "./live-orders.tsx";
import { RecentDays } from "./recent-days.tsx";
import { WeekSales } from "./week-sales.tsx";

/** The number of business days before today. */
const dayCount = 14;
const refetchMs = 60_000;

export function HomePage() {
  const { key } = useSession();
  return opensOperatorView(key) ? <Navigate to="/operator" replace /> : <LocationHome />;
}

function LocationHome() {
  const { key } = useSession();
  const { isoDay, longDay } = useFormats();
  const today = isoDay(new Date());
  const since = addDays(today, -dayCount);
  const canReadReports = hasAnyScope(key, "reports:read");
  const canReadOrders = hasAnyScope(key, "orders:read");
  const days = useApi(
    ["days", "recent", since],
    (api) => api.GET("/v1/days", { params: { query: { since, size: dayCount + 1 } } }),
    { refetchMs, isEnabled: canReadReports },
  );
  return (
    <Page title={text.home.title} summary={longDay(today)}>
      <div className="home">
        <div className="home-column">
          {canReadReports && <WeekSales today={today} />}
          {canReadReports && (
            <Section
              className="home-days"
              title={text.home.recentDays}
              actions={
                <>
                  <CopyRequest url={days.data?.url} />
                  <Link to="/days">{text.home.allDays}</Link>
                </>
              }
            >
              <p className="muted">{text.home.closedShifts}</p>
              <Loaded query={days}>{({ data }) => <RecentDays days={data} today={today} count={dayCount} />}</Loaded>
            </Section>
          )}
        </div>
        <div className="home-column">
          {canReadOrders && <LiveOrders />}
          <LastTill />
        </div>
      </div>
    </Page>
  );
}
