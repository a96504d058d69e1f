import { useFormats } from "../session/session-context.tsx";

interface MomentProps {
  at: string;
  isTimeOnly?: boolean;
  /** Whether a narrow column of a table must not break it into several lines. */
  isOnOneLine?: boolean;
}

/** A date and time in the location's time zone. */
export const Moment = ({ at, isTimeOnly = false, isOnOneLine = false }: MomentProps) => {
  const { dateTime, time, timeZone } = useFormats();
  return (
    <time dateTime={at} title={`${dateTime(at)} (${timeZone})`} className={isOnOneLine ? "one-line" : undefined}>
      {isTimeOnly ? time(at) : dateTime(at)}
    </time>
  );
};

/** A date and time with seconds, for what happens within a minute. */
export const ExactMoment = ({ at }: { at: string }) => {
  const { dateTimeWithSeconds, timeZone } = useFormats();
  return (
    <time dateTime={at} title={timeZone}>
      {dateTimeWithSeconds(at)}
    </time>
  );
};

/** How long ago something was, with the exact time as a title. */
export const Ago = ({ at }: { at: string }) => {
  const { ago, dateTime, timeZone } = useFormats();
  return (
    <time dateTime={at} title={`${dateTime(at)} (${timeZone})`}>
      {ago(at)}
    </time>
  );
};
