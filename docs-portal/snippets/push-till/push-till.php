<?php
// Pushes the till in the file till.json.

const MAX_ATTEMPTS = 8;
const RETRIED_STATUSES = [408, 429, 500, 502, 503, 504];

/** Pushes a till, and repeats the request with the same bytes until the API has accepted or rejected the till. */
function pushTill(string $till): void
{
    $url = (getenv('PRAGMA_URL') ?: 'http://127.0.0.1:4000') . '/v2/tills/';
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
    for ($attempt = 0; $attempt < MAX_ATTEMPTS; $attempt++) {
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
        sleep(preg_match('/^retry-after: (\d+)/im', $headers, $match) ? (int) $match[1] : 2 ** $attempt);
    }
    throw new RuntimeException('The till was not accepted. Push it again later.');
}

pushTill(file_get_contents('till.json'));
