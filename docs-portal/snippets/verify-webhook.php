<?php

/**
 * Throws unless the message was signed with the recipient's secret and has a timestamp
 * within five minutes of $now. The names in $headers are in lower case. $body is the raw
 * request body, before parsing. Only tests set $now (seconds since 1970).
 */
function verify_webhook(array $headers, string $body, string $secret, ?int $now = null): void
{
    $id = $headers['webhook-id'] ?? '';
    $timestamp = $headers['webhook-timestamp'] ?? '';
    if (!preg_match('/^\d+$/D', $timestamp) || abs(($now ?? time()) - (int) $timestamp) > 300) {
        throw new InvalidArgumentException('The timestamp of the message is not within five minutes.');
    }

    // A secret that begins with whsec_ contains the key in base64.
    $key = str_starts_with($secret, 'whsec_') ? base64_decode(substr($secret, 6)) : $secret;
    $expected = base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $headers['webhook-signature'] ?? '') as $entry) {
        [$version, $signature] = array_pad(explode(',', $entry, 2), 2, '');
        if ($version === 'v1' && hash_equals($expected, $signature)) {
            return;
        }
    }
    throw new InvalidArgumentException('The message is not signed with this secret.');
}
