<?php
// Pushes the till in the file till.json. Usage: PRAGMA_API_KEY=… php push-till.php

const MAX_ATTEMPTS = 8;
const MAX_RETRY_AFTER = 60; // seconds
const RETRIED_STATUSES = [408, 429, 500, 502, 503, 504];

/** Pushes a till, and repeats the request with the same bytes until the API has accepted or rejected the till. */
function pushTill(string $till): void
{
    $url = (getenv('PRAGMA_URL') ?: 'http://127.0.0.1:4000') . '/v2/tills';
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => [
            'authorization: Bearer ' . getenv('PRAGMA_API_KEY'),
            'content-type: application/json',
            'content-encoding: gzip',
        ],
        'content' => gzencode($till),
        'timeout' => 60,
        'ignore_errors' => true, // With this option, PHP also returns the body of an error response.
    ]]);
    for ($attempt = 1; ; $attempt++) {
        $http_response_header = [];
        $response = @file_get_contents($url, false, $context);
        // If the connection failed, there are no headers, and the status is 0.
        $headers = implode("\n", $http_response_header);
        $status = preg_match('/^HTTP\/\S+ (\d+)/', $headers, $match) ? (int) $match[1] : 0;
        if ($status === 200 || $status === 201) {
            echo $status === 201 ? "The till was created.\n" : "The till already existed.\n";
            return;
        }
        if ($status !== 0 && !in_array($status, RETRIED_STATUSES, true)) {
            throw new RuntimeException("The till was rejected: $status $response");
        }
        $retryAfter = preg_match('/^retry-after: (\d+)/im', $headers, $match) ? (int) $match[1] : 0;
        if ($attempt === MAX_ATTEMPTS || $retryAfter > MAX_RETRY_AFTER) {
            $cause = $status === 0 ? 'no response' : $status;
            throw new RuntimeException("The till was not accepted ($cause). Push it again later.");
        }
        // The random time prevents all devices from retrying at the same moment.
        usleep(($retryAfter ?: 2 ** ($attempt - 1)) * random_int(1_000_000, 1_500_000));
    }
}

if (!getenv('PRAGMA_API_KEY')) throw new RuntimeException('Set PRAGMA_API_KEY to your API key.');
if (!is_readable('till.json')) throw new RuntimeException('The file till.json cannot be read.');
pushTill(file_get_contents('till.json'));
