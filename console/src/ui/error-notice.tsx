import { ApiProblem, NoResponse } from "@pragma/client";
import { text } from "../text/text.ts";
import { Button } from "./button.tsx";

interface ErrorNoticeProps {
  error: unknown;
  onRetry?: (() => void) | undefined;
  isRetrying?: boolean;
}

/** States what failed, why, and what the reader can do. */
export function ErrorNotice({ error, onRetry, isRetrying = false }: ErrorNoticeProps) {
  return (
    <div className="notice notice-bad" role="alert">
      {error instanceof ApiProblem ? <ProblemDetails problem={error} /> : <p>{describeError(error)}</p>}
      {onRetry && (
        <Button onPress={onRetry} isPending={isRetrying}>
          {text.errors.retry}
        </Button>
      )}
    </div>
  );
}

function ProblemDetails({ problem: { title, detail, issues, requestId, type } }: { problem: ApiProblem }) {
  return (
    <>
      <p>
        <strong>{title}</strong>
        {/* The issues say more than a detail that only counts them. */}
        {issues.length === 0 && detail !== title && <>. {detail}</>}
      </p>
      {issues.length > 0 && (
        <ul>
          {issues.map((issue) => (
            <li key={`${issue.in} ${issue.path} ${issue.code}`}>
              <code>{issue.path || issue.in}</code>: {issue.message}
            </li>
          ))}
        </ul>
      )}
      <p className="notice-meta">
        <a href={type}>{text.errors.whatToDo}</a> · {text.errors.request} <code>{requestId}</code>
      </p>
    </>
  );
}

function describeError(error: unknown): string {
  if (error instanceof NoResponse) return text.errors.noResponse;
  return error instanceof Error ? error.message : String(error);
}
