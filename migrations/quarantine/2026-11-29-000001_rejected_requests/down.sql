DROP TABLE rejected_requests;
