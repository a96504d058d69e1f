import { Link } from "@tanstack/react-router";
import { useFormats, useSession } from "../session/session-context.tsx";

/** A day of locations. It is a link if the key has the only one of them; the location is named if the key has none. */
export function DayLink({ day, locationIds }: { day: string; locationIds: readonly string[] }) {
  const { key } = useSession();
  const { dayWithYear } = useFormats();
  if (locationIds.some((id) => id !== key.location?.id))
    return (
      <>
        {dayWithYear(day)}
        {locationIds.length === 1 && (
          <>
            {" "}
            <code>{locationIds[0]}</code>
          </>
        )}
      </>
    );
  return (
    <Link to="/days/$date" params={{ date: day }}>
      {dayWithYear(day)}
    </Link>
  );
}
