import type { ApiSchemaTypes } from "@pragma/client";
import { useApiChange } from "../api/use-api-change.ts";
import type { ServiceName } from "../text/choices.ts";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Moment } from "../ui/moment.tsx";
import { LocationLink } from "./location-link.tsx";

interface DeadLetterCardProps {
  service: ServiceName;
  deadLetter: ApiSchemaTypes["DeadLetter"];
  locationNames: ReadonlyMap<string, string>;
  /** Called when the event was processed. The list then no longer contains this card. */
  onRetried: (outcome: string) => void;
}

export function DeadLetterCard({ service, deadLetter, locationNames, onRetried }: DeadLetterCardProps) {
  const { eventId, type, reason, subject, locationId, deadLetteredAt } = deadLetter;
  const retry = useApiChange(async (api) => {
    const path = { service, eventId };
    const response = await api.POST("/v1/services/{service}/dead-letters/{eventId}/retry", { params: { path } });
    const { retries } = response.data;
    if (retries.every(({ isDone }) => isDone))
      onRetried(retries.length > 0 ? text.operator.retried : text.operator.alreadyRetried);
    return response;
  });
  const failed = retry.data?.retries.find(({ isDone }) => !isDone);
  return (
    <li className="card">
      <div className="card-header">
        <code className="card-title">{type}</code>
        <span className="muted">
          <Moment at={deadLetteredAt} />
        </span>
        <Button
          aria-label={text.operator.retryOf(type)}
          isPending={retry.isPending}
          onPress={() => retry.mutate(undefined)}
        >
          {text.operator.retry}
        </Button>
      </div>
      <p className="bad reason">{reason}</p>
      {failed && (
        <p role="alert" className="notice notice-bad">
          {text.operator.retryFailed} {failed.reason}
        </p>
      )}
      {retry.error && <ErrorNotice error={retry.error} />}
      <p className="card-meta">
        {locationId !== null && <LocationLink id={locationId} name={locationNames.get(locationId)} />}
        {subject !== null && (
          <span>
            {text.operator.subject} <code>{subject}</code>
          </span>
        )}
        <CopyButton value={eventId} label={`${text.operator.event} ${eventId.slice(0, 8)}`} />
      </p>
    </li>
  );
}
