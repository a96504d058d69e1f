import { Link } from "@tanstack/react-router";

interface LocationLinkProps {
  id: string;
  names: ReadonlyMap<string, string>;
}

export const LocationLink = ({ id, names }: LocationLinkProps) => (
  <Link to="/operator/locations/$id" params={{ id }}>
    {names.get(id) ?? id.slice(0, 8)}
  </Link>
);
