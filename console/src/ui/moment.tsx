import { useFormats } from "../session/session-context.tsx";

/** A date and time in the location's time zone. */
export const Moment = ({ at, isTimeOnly = false }: { at: string; isTimeOnly?: boolean }) => {
  const { dateTime, time, timeZone } = useFormats();
  return (
    <time dateTime={at} title={`${dateTime(at)} (${timeZone})`}>
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
