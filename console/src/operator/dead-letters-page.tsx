import type { ApiSchemaTypes } from "@pragma/client";
import type { AdminApiClient } from "@pragma/client/api-client";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useApi } from "../api/use-api.ts";
import { type ServiceName, serviceNames } from "../text/choices.ts";
import { text } from "../text/text.ts";
import { CopyRequest } from "../ui/copy-button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { ChoiceField, Filters } from "../ui/fields.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Pagination } from "../ui/pagination.tsx";
import { Section } from "../ui/section.tsx";
import { DeadLetterCard } from "./dead-letter-card.tsx";
import { OperatorView } from "./operator-view.tsx";
import { useLocationNames } from "./use-names.ts";

const route = getRouteApi("/operator/dead-letters");
const pageSize = 20;
const refetchMs = 15_000;

/** The dead letters of one service, or the latest of each service. */
export function DeadLettersPage() {
  const { service } = route.useSearch();
  const navigate = route.useNavigate();
  const [outcome, setOutcome] = useState<string | null>(null);
  return (
    <OperatorView title={text.operator.deadLetters} summary={text.operator.deadLettersHint}>
      <Filters>
        <ChoiceField
          label={text.operator.service}
          choices={Object.fromEntries(serviceNames.map((name) => [name, name])) as Record<ServiceName, string>}
          value={service}
          onChange={(chosen) => void navigate({ search: { service: chosen } })}
          anyLabel={text.filters.all}
        />
      </Filters>
      <p role="status" className={outcome === null ? "visually-hidden" : "notice"}>
        {outcome}
      </p>
      {service ? (
        <DeadLettersOfService service={service} onRetried={setOutcome} />
      ) : (
        <DeadLettersOfAll onRetried={setOutcome} />
      )}
    </OperatorView>
  );
}

const readDeadLetters = (api: AdminApiClient, service: ServiceName, index: number) =>
  api.GET("/v1/services/{service}/dead-letters", {
    params: { path: { service }, query: { index, size: pageSize } },
  });

interface DeadLettersProps {
  onRetried: (outcome: string) => void;
}

function DeadLettersOfService({ service, onRetried }: DeadLettersProps & { service: ServiceName }) {
  const { page = 0 } = route.useSearch();
  const query = useApi(["dead-letters", service, page], (api) => readDeadLetters(api, service, page), { refetchMs });
  return (
    <Section title={text.operator.deadLettersOf(service)} actions={<CopyRequest url={query.data?.url} />}>
      <Loaded query={query}>
        {({ data, meta }) => (
          <>
            <DeadLetterList service={service} deadLetters={data} onRetried={onRetried} />
            <Pagination meta={meta} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

/** Reads the dead letters of all services. A service that does not respond must not hide those of the others. */
function DeadLettersOfAll({ onRetried }: DeadLettersProps) {
  const query = useApi(
    ["dead-letters"],
    async (api) => {
      const lists = await Promise.all(
        serviceNames.map(async (service) => {
          const [outcome] = await Promise.allSettled([readDeadLetters(api, service, 0)]);
          return { service, outcome };
        }),
      );
      const data = lists.map(({ service, outcome }) => ({
        service,
        page: outcome.status === "fulfilled" ? outcome.value.data : null,
        error: outcome.status === "rejected" ? (outcome.reason as unknown) : null,
      }));
      const [first] = lists.flatMap(({ outcome }) => (outcome.status === "fulfilled" ? [outcome.value.response] : []));
      return { data, response: first ?? new Response() };
    },
    { refetchMs },
  );
  return (
    <Loaded query={query}>
      {(lists) => (
        <>
          {lists.every(({ page }) => page?.meta.totalCount === 0) && (
            <p className="empty">{text.operator.noDeadLetters}</p>
          )}
          {lists.map(({ service, page, error }) => (
            <div key={service}>
              {page === null && (
                <>
                  <p>{text.operator.serviceFailed(service)}</p>
                  <ErrorNotice error={error} />
                </>
              )}
              {page !== null && page.data.length > 0 && (
                <Section title={text.operator.deadLettersOf(service)}>
                  <DeadLetterList service={service} deadLetters={page.data} onRetried={onRetried} />
                  {page.meta.totalCount > page.data.length && (
                    <p className="muted">
                      {text.operator.more(page.meta.totalCount - page.data.length)}
                      <Link to="/operator/dead-letters" search={{ service }}>
                        {text.operator.showAll(service)}
                      </Link>
                    </p>
                  )}
                </Section>
              )}
            </div>
          ))}
        </>
      )}
    </Loaded>
  );
}

interface DeadLetterListProps extends DeadLettersProps {
  service: ServiceName;
  deadLetters: readonly ApiSchemaTypes["DeadLetter"][];
}

function DeadLetterList({ service, deadLetters, onRetried }: DeadLetterListProps) {
  const locationNames = useLocationNames();
  if (deadLetters.length === 0) return <p className="empty">{text.operator.noDeadLetters}</p>;
  return (
    <ul className="cards">
      {deadLetters.map((deadLetter) => (
        <DeadLetterCard
          key={`${deadLetter.eventId} ${deadLetter.subscription}`}
          {...{ service, deadLetter, locationNames, onRetried }}
        />
      ))}
    </ul>
  );
}
