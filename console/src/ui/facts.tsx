import type { ReactNode } from "react";

/** Names with their values. Values that are null or undefined are left out. */
export const Facts = ({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className="facts">
    {facts
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);
