import type { ApiSchemaTypes } from "@pragma/client";
import { useEffect, useRef, useState } from "react";
import { text } from "../text/text.ts";

/** How long new deliveries are counted before they are announced, so that not each of them interrupts the reader. */
const announcementMs = 10_000;

interface NewDeliveriesProps {
  /** Newest first; undefined until they are loaded. */
  deliveries: readonly ApiSchemaTypes["Delivery"][] | undefined;
}

/** Announces to screen readers how many deliveries have appeared, politely, and at most every ten seconds. */
export function NewDeliveries({ deliveries }: NewDeliveriesProps) {
  const [announcement, setAnnouncement] = useState("");
  const latest = useRef(deliveries);
  const announced = useRef<string | undefined>(undefined);
  latest.current = deliveries;
  if (deliveries !== undefined) announced.current ??= deliveries[0]?.createdAt ?? "";
  useEffect(() => {
    const timer = setInterval(() => {
      const since = announced.current;
      if (latest.current === undefined || since === undefined) return;
      const count = latest.current.filter(({ createdAt }) => createdAt > since).length;
      announced.current = latest.current[0]?.createdAt ?? since;
      setAnnouncement(count === 0 ? "" : text.webhooks.newDeliveries(count));
    }, announcementMs);
    return () => clearInterval(timer);
  }, []);
  return (
    <span role="status" className="visually-hidden">
      {announcement}
    </span>
  );
}
