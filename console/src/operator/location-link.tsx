import { Link } from "@tanstack/react-router";

interface LocationLinkProps {
  id: string;
  /** Undefined while names are read, and for locations that are not found. */
  name: string | undefined;
}

export const LocationLink = ({ id, name }: LocationLinkProps) => (
  <Link to="/operator/locations/$id" params={{ id }}>
    {name ?? id.slice(0, 8)}
  </Link>
);
