"use client";
import { useEffect, useState } from "react";

/** Server time in Unix milliseconds, counted on from `serverNow` by how far this device's clock has moved; still while `running` is false. */
export function useServerClock(serverNow: number, running: boolean): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    setNow(serverNow);
    if (!running) return;
    const heardAt = Date.now();
    const timer = setInterval(() => setNow(serverNow + (Date.now() - heardAt)), 1000);
    return () => clearInterval(timer);
  }, [serverNow, running]);
  return now;
}
