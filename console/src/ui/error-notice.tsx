import { ApiProblem, NoResponse } from "@pragma/client";
import { text } from "../text/text.ts";
import { Button } from "./button.tsx";

interface ErrorNoticeProps {
  error: unknown;
  onRetry?: (() => void) | undefined;
  isRetrying?: boolean;
  /** The paths of issues that the fields of a form show. */
  pathsOfFields?: readonly string[];
}

/** States what failed, why, and what the reader can do. */
export function ErrorNotice({ error, onRetry, isRetrying = false, pathsOfFields = [] }: ErrorNoticeProps) {
  return (
    <div className="notice notice-bad" role="alert">
      {error instanceof ApiProblem ? (
        <ProblemDetails problem={error} pathsOfFields={pathsOfFields} />
      ) : (
        <p>{describeError(error)}</p>
      )}
      {onRetry && (
        <Button onPress={onRetry} isPending={isRetrying}>
          {text.errors.retry}
        </Button>
      )}
    </div>
  );
}

interface ProblemDetailsProps {
  problem: ApiProblem;
  pathsOfFields: readonly string[];
}

function ProblemDetails({ problem: { title, detail, issues, requestId, type }, pathsOfFields }: ProblemDetailsProps) {
  const others = issues.filter(({ path }) => !pathsOfFields.includes(path));
  return (
    <>
      <p>
        <strong>{title}</strong>
        {/* The issues say more than a detail that only counts them. */}
        {issues.length === 0 && detail !== title && <>. {detail}</>}
      </p>
      {others.length < issues.length && <p>{text.errors.atFields}</p>}
      {others.length > 0 && (
        <ul>
          {others.map((issue) => (
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
