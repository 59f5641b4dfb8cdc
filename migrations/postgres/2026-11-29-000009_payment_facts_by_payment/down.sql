DROP INDEX payment_facts_by_payment;
