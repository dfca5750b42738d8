-- What the approvals demanded of people.
SELECT DISTINCT policy, policy_share FROM review.approved;
